using Net.Zlink.Services;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Extensions.Tests;

/// <summary>A request in one line, and each way in which it can fail.</summary>
public sealed class TypedRequestTests
{
    private static readonly TimeSpan Long = Guard.Limit;

    [Fact]
    public async Task A_request_is_answered_by_the_handler()
    {
        await using var context = new ZlinkContext();
        await using var server = new RequestServer(context, "tcp://127.0.0.1:*", Serializers.Json);
        Task serving = server.ServeAsync<Ask, Quote>(
            static (ask, _) => ValueTask.FromResult(new Quote(ask.Currency, 1.2m)), cancellationToken: Guard.Token);
        await using var client = new RequestClient(context, server.Endpoint, Serializers.Json);
        Assert.Equal(new Quote("EUR", 1.2m), await client.RequestAsync<Ask, Quote>(new Ask("EUR"), Long, Guard.Token).Guarded());
        await server.DisposeAsync();
        await serving.Guarded();
    }

    [Fact]
    public async Task A_time_out_a_cancellation_and_a_failing_handler_are_three_different_exceptions()
    {
        await using var context = new ZlinkContext();
        await using var server = new RequestServer(context, "tcp://127.0.0.1:*", Serializers.Json);
        _ = server.ServeAsync<Ask, Quote>(static async (ask, cancellation) =>
        {
            if (ask.Currency is "sold out")
            {
                throw new ServiceException(ServiceError.Failed, "no more of these", 302);
            }

            if (ask.Currency is "bad")
            {
                throw new InvalidOperationException("no such currency");
            }

            await Task.Delay(Timeout.Infinite, cancellation);
            throw new InvalidOperationException();
        }, cancellationToken: Guard.Token);
        await using var client = new RequestClient(context, server.Endpoint, Serializers.Json);
        var failed = await Assert.ThrowsAsync<ServiceException>(
            () => client.RequestAsync<Ask, Quote>(new Ask("bad"), Long, Guard.Token).Guarded());
        Assert.Equal((ServiceError.Failed, true), (failed.Error, failed.WasExecuted));
        failed = await Assert.ThrowsAsync<ServiceException>(
            () => client.RequestAsync<Ask, Quote>(new Ask("sold out"), Long, Guard.Token).Guarded());
        Assert.Equal((ServiceError.Failed, 302, true), (failed.Error, failed.Code, failed.WasExecuted));
        Assert.Contains("no more of these", failed.Message, StringComparison.Ordinal);
        await Assert.ThrowsAsync<TimeoutException>(
            () => client.RequestAsync<Ask, Quote>(new Ask("EUR"), TimeSpan.FromMilliseconds(50), Guard.Token).AsTask());
        using var cancel = new CancellationTokenSource();
        Task<Quote> cancelled = client.RequestAsync<Ask, Quote>(new Ask("EUR"), Long, cancel.Token).AsTask();
        await cancel.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => cancelled.Guarded());
    }

    [Fact]
    public async Task Nobody_there_is_an_error_that_says_why_and_a_request_whose_time_has_passed_is_not_carried_out()
    {
        await using var context = new ZlinkContext();
        string endpoint;
        using (RouterSocket free = context.CreateRouter())
        {
            endpoint = free.Bind("tcp://127.0.0.1:*");
            free.Unbind(endpoint);
        }

        await using var client = new RequestClient(context, endpoint, Serializers.Json);
        var nobody = await Assert.ThrowsAsync<ServiceException>(
            () => client.RequestAsync<Ask, Quote>(new Ask("EUR"), Long, Guard.Token).Guarded());
        Assert.Equal((ServiceError.NoReceiver, false), (nobody.Error, nobody.WasExecuted));
        Assert.Contains("no process listens", nobody.Message, StringComparison.Ordinal);

        await using var server = new RequestServer(context, endpoint, Serializers.Json);
        var asked = new List<string>();
        _ = server.ServeAsync<Ask, Quote>((ask, _) =>
        {
            asked.Add(ask.Currency);
            return ValueTask.FromResult(new Quote(ask.Currency, 1));
        }, cancellationToken: Guard.Token);
        await client.Service.WaitUntilReadyAsync(cancellationToken: Guard.Token).Guarded();
        await client.RequestAsync<Ask, Quote>(new Ask("USD"), Long, Guard.Token).Guarded();
        Assert.Equal(["USD"], asked, StringComparer.Ordinal);
    }

    [Fact]
    public async Task A_request_that_cannot_be_read_fails_and_the_handler_does_not_see_it()
    {
        await using var context = new ZlinkContext();
        await using var server = new RequestServer(context, "tcp://127.0.0.1:*", Serializers.Json);
        int calls = 0;
        _ = server.ServeAsync<Ask, Quote>((ask, _) =>
        {
            calls++;
            return ValueTask.FromResult(new Quote(ask.Currency, 1));
        }, cancellationToken: Guard.Token);
        await using var client = new RequestClient(context, server.Endpoint, Serializers.Json);
        var failed = await Assert.ThrowsAsync<ServiceException>(async () =>
        {
            using ServiceReply reply = await client.Service.RequestAsync("{"u8.ToArray(), Long, Guard.Token);
        });
        Assert.Contains("the request is not a Ask", failed.Message, StringComparison.Ordinal);
        Assert.False(failed.WasExecuted);
        Assert.Equal(0, calls);
    }
}
