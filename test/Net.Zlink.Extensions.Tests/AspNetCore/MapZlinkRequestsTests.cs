using Net.Zlink.AspNetCore;
using Net.Zlink.Services;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Extensions.Tests.AspNetCore;

/// <summary>Requests that come over a web application's port reach a service, or are refused with a reason that tells no secret.</summary>
public sealed class MapZlinkRequestsTests
{
    [Fact]
    public async Task A_gateway_of_another_program_asks_a_service_by_a_web_application()
    {
        await using var web = new WebFixture();
        await using ServiceReceiver receiver = Receiver(web, static (request, cancellation) =>
            request.ReplyAsync(request.Span.SequenceEqual("big"u8) ? new byte[100_000] : request.Memory, cancellation));
        await using ServiceGateway inner = await StartAsync(web, receiver);
        await using ServiceGateway outer = Outer(web, "echo");
        await outer.GetClient("echo").WaitUntilReadyAsync(cancellationToken: Guard.Token).AsTask().Guarded();
        foreach ((string question, int length) in ((string, int)[])[("hello", 5), ("big", 100_000), ("", 0)])
        {
            using ServiceReply reply = await outer.GetClient("echo").RequestAsync(
                System.Text.Encoding.UTF8.GetBytes(question), Guard.Limit, Guard.Token).AsTask().Guarded();
            Assert.Equal(length, reply.Span.Length);
        }
    }

    [Fact]
    public async Task A_service_that_is_not_named_is_refused_and_one_that_nobody_serves_is_not_available()
    {
        await using var web = new WebFixture();
        await using ServiceGateway inner = await StartAsync(web, receiver: null);
        await using ServiceGateway outer = Outer(web, "secret", "echo");
        ServiceException unnamed = await Assert.ThrowsAsync<ServiceException>(() => AskAsync(outer, "secret"));
        Assert.Equal((403, false), (unnamed.Code, unnamed.WasExecuted));
        ServiceException unserved = await Assert.ThrowsAsync<ServiceException>(() => AskAsync(outer, "echo"));
        Assert.Equal((503, "The service is not available."), (unserved.Code, unserved.Reason));
    }

    [Fact]
    public async Task A_gateway_that_has_ended_is_a_service_that_is_not_available()
    {
        await using var web = new WebFixture();
        await using ServiceGateway inner = await StartAsync(web, receiver: null);
        await using ServiceGateway outer = Outer(web, "echo");
        await inner.DisposeAsync();
        ServiceException refused = await Assert.ThrowsAsync<ServiceException>(() => AskAsync(outer, "echo"));
        Assert.Equal((503, "The service is not available.", false), (refused.Code, refused.Reason, refused.WasExecuted));
    }

    [Fact]
    public async Task A_handler_that_throws_tells_the_client_nothing_but_what_it_says_with_a_code()
    {
        await using var web = new WebFixture();
        await using ServiceReceiver receiver = Receiver(web, static (request, _) => throw (request.Span.Length > 0
            ? new ServiceException(ServiceError.Failed, "No such currency.", code: 300)
            : new InvalidOperationException("Password=secret")));
        await using ServiceGateway inner = await StartAsync(web, receiver);
        await using ServiceGateway outer = Outer(web, "echo");
        ServiceException thrown = await Assert.ThrowsAsync<ServiceException>(() => AskAsync(outer, "echo", ""));
        Assert.Equal((500, "The service failed.", true), (thrown.Code, thrown.Reason, thrown.WasExecuted));
        ServiceException said = await Assert.ThrowsAsync<ServiceException>(() => AskAsync(outer, "echo", "XXX"));
        Assert.Equal((300, "No such currency."), (said.Code, said.Reason));
    }

    [Fact]
    public async Task MaxTime_ends_a_request_whose_caller_would_wait_for_longer()
    {
        await using var web = new WebFixture();
        await using ServiceReceiver receiver = Receiver(web, static async (_, cancellation) =>
            await Task.Delay(Timeout.Infinite, cancellation));
        await using ServiceGateway inner = await StartAsync(
            web, receiver, static options => options.MaxTime = TimeSpan.FromMilliseconds(50));
        await using ServiceGateway outer = Outer(web, "echo");
        ServiceException late = await Assert.ThrowsAsync<ServiceException>(() => AskAsync(outer, "echo"));
        Assert.Equal((504, "The service took too long."), (late.Code, late.Reason));
    }

    [Fact]
    public async Task The_stop_of_the_host_answers_what_has_come()
    {
        await using var web = new WebFixture();
        var begun = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var released = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        await using ServiceReceiver receiver = Receiver(web, async (request, cancellation) =>
        {
            begun.SetResult();
            await released.Task.WaitAsync(cancellation);
            await request.ReplyAsync("done"u8.ToArray(), cancellation);
        });
        await using ServiceGateway inner = await StartAsync(web, receiver);
        await using ServiceGateway outer = Outer(web, "echo");
        Task<string> asking = AskAsync(outer, "echo");
        await begun.Task.Guarded();
        Task stopped = web.App.StopAsync(Guard.Token);
        await Guard.UntilAsync(() => web.App.Lifetime.ApplicationStopping.IsCancellationRequested, "the host stops");
        released.SetResult();
        Assert.Equal("done", await asking.Guarded());
        await stopped.Guarded();
    }

    private static async Task<ServiceGateway> StartAsync(
        WebFixture web, ServiceReceiver? receiver, Action<ZlinkRequestsOptions>? configure = null)
    {
        var directory = new StaticDirectory();
        if (receiver is not null)
        {
            directory.SetService("echo", new ServiceInstance("echo", receiver.Bind("tcp://127.0.0.1:*")));
        }

        var gateway = new ServiceGateway(web.Context, directory);
        await web.StartAsync(app => app.MapZlinkRequests("/ask", gateway, options =>
        {
            options.Services.Add("echo");
            configure?.Invoke(options);
        }));
        return gateway;
    }

    private static ServiceReceiver Receiver(WebFixture web, Func<ServiceRequest, CancellationToken, ValueTask> handler)
    {
        var receiver = new ServiceReceiver(web.Context);
        _ = receiver.ServeAsync(handler);
        return receiver;
    }

    private static ServiceGateway Outer(WebFixture web, params string[] services) => new(
        web.Context, new StaticDirectory(services.Select(service => new ServiceInstance(service, $"{web.Address}/ask"))));

    private static async Task<string> AskAsync(ServiceGateway gateway, string service, string question = "EUR")
    {
        await gateway.GetClient(service).WaitUntilReadyAsync(cancellationToken: Guard.Token).AsTask().Guarded();
        using ServiceReply reply = await gateway.GetClient(service)
            .RequestAsync(System.Text.Encoding.UTF8.GetBytes(question), Guard.Limit, Guard.Token).AsTask().Guarded();
        return System.Text.Encoding.UTF8.GetString(reply.Span);
    }
}
