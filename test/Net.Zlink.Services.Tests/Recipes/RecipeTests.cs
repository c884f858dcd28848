using System.Text;
using Net.Zlink.Tests.Support;
using Polly.CircuitBreaker;
using Xunit;

namespace Net.Zlink.Services.Tests;

public class RecipeTests
{
    [Fact]
    public async Task A_request_that_was_refused_is_sent_again_and_one_that_was_executed_is_not()
    {
        await using var scene = new GatewayScene();
        int executed = 0;
        int refused = 0;
        await scene.AddServingAsync("one", (request, cancellation) =>
        {
            string text = Encoding.UTF8.GetString(request.Span);
            if (text is "refuse" && Interlocked.Increment(ref refused) <= 2)
            {
                request.TryRefuse(0x100, "not now");
                return default;
            }

            if (text is "fail")
            {
                Interlocked.Increment(ref executed);
                request.TryFail(0x100, "no");
                return default;
            }

            return request.ReplyAsync(request.Memory, cancellation);
        });

        using ServiceReply reply = await Recipe.AskAsync(Recipe.Retry(), scene.Client, "refuse"u8.ToArray(), Guard.Token).Guarded();
        Assert.Equal(3, refused);
        ServiceException failure = await Assert.ThrowsAsync<ServiceException>(
            () => Recipe.AskAsync(Recipe.Retry(), scene.Client, "fail"u8.ToArray(), Guard.Token).Guarded());
        Assert.Equal((ServiceError.Failed, 1), (failure.Error, executed));
    }

    [Fact]
    public async Task A_hedged_request_gets_the_first_reply_and_the_slower_receiver_a_cancel()
    {
        await using var scene = new GatewayScene();
        int slow = 0;
        var cancelled = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        for (int i = 0; i < 2; i++)
        {
            await scene.AddServingAsync($"{i}", async (request, cancellation) =>
            {
                if (Interlocked.Increment(ref slow) == 1)
                {
                    await using CancellationTokenRegistration registration = cancellation.Register(cancelled.SetResult);
                    await cancelled.Task;
                    cancellation.ThrowIfCancellationRequested();
                }

                await request.ReplyAsync(request.Memory, cancellation);
            });
        }

        using ServiceReply reply = await Recipe.AskAsync(Recipe.Hedge(), scene.Client, "x"u8.ToArray(), Guard.Token).Guarded();
        await cancelled.Task.Guarded();
        Assert.Equal("x", Encoding.UTF8.GetString(reply.Span));
    }

    [Fact]
    public async Task Behind_ten_failures_the_circuit_is_open_and_nothing_is_sent()
    {
        await using var scene = new GatewayScene();
        (ServiceReceiver receiver, _) = await scene.AddServingAsync("one", static (request, _) =>
        {
            request.TryFail(0x100, "no");
            return default;
        });
        Polly.ResiliencePipeline<ServiceReply> pipeline = Recipe.Break();
        for (int i = 0; i < 10; i++)
        {
            await Assert.ThrowsAsync<ServiceException>(
                () => Recipe.AskAsync(pipeline, scene.Client, "x"u8.ToArray(), Guard.Token).Guarded());
        }

        await Assert.ThrowsAsync<BrokenCircuitException>(
            () => Recipe.AskAsync(pipeline, scene.Client, "x"u8.ToArray(), Guard.Token).Guarded());
        Assert.Equal(10, receiver.GetStatistics().Requests);
    }

    [Fact]
    public void The_page_about_services_shows_this_code()
    {
        string page = File.ReadAllText(Path.Combine(Repository.Root, "docs", "services.md"));
        string code = File.ReadAllText(Path.Combine(Repository.Root, "test", "Net.Zlink.Services.Tests", "Recipes", "Recipe.cs"));
        code = code[code.IndexOf("    // begin", StringComparison.Ordinal)..code.IndexOf("    // end", StringComparison.Ordinal)];
        foreach (string line in code.Split('\n').Skip(1).Select(static line => line.Trim()).Where(static line => line.Length > 0))
        {
            Assert.Contains(line, page, StringComparison.Ordinal);
        }
    }
}
