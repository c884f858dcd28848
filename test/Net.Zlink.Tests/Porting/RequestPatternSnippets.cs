using System.Buffers.Binary;
using System.Collections.Concurrent;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Porting;

/// <summary>The snippets of docs/patterns.md about requests and replies, compiled and run.</summary>
public sealed class RequestPatternSnippets
{
    [Fact]
    public async Task A_late_reply_is_not_taken_for_the_answer_to_the_next_request()
    {
        await using var fixture = new ContextFixture();
        using var end = CancellationTokenSource.CreateLinkedTokenSource(Guard.Token);
        RouterSocket router = fixture.Context.CreateRouter();
        DealerSocket dealer = Dealer(fixture.Context);
        dealer.Connect(router.Bind("tcp://127.0.0.1:0"));
        await fixture.UntilAsync(() => dealer.CanSend);
        var requester = new Requester(dealer);
        Task reading = requester.ReadRepliesAsync(end.Token);

        // Nobody answers yet.
        await Assert.ThrowsAsync<TimeoutException>(() => requester.AskAsync("first"u8.ToArray(), TimeSpan.FromMilliseconds(20), end.Token));
        Task serving = ServeAsync(router, end.Token);
        Assert.Equal("second"u8.ToArray(), await requester.AskAsync("second"u8.ToArray(), TimeSpan.FromSeconds(30), end.Token));

        await end.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => reading);
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => serving);
    }

    [Fact]
    public async Task A_request_whose_time_passed_before_the_server_came_is_never_carried_out()
    {
        await using var fixture = new ContextFixture();
        DealerSocket dealer = Dealer(fixture.Context);
        RouterSocket router = fixture.Context.CreateRouter();
        string endpoint = router.Bind("tcp://127.0.0.1:0");
        router.Unbind(endpoint);
        dealer.Connect(endpoint);
        var requester = new Requester(dealer);
        await Assert.ThrowsAsync<TimeoutException>(() => requester.AskAsync("early"u8.ToArray(), TimeSpan.FromMilliseconds(20), Guard.Token));

        router.Bind(endpoint);
        await fixture.UntilAsync(() => dealer.CanSend);
        dealer.Send("in time"u8);
        using Message request = await router.ReceiveAsync(Guard.Token).Guarded();
        Assert.Equal("in time", request.GetString());
    }

    [Fact]
    public async Task A_caller_that_gives_its_request_up_sees_a_cancellation_and_not_a_timeout()
    {
        await using var fixture = new ContextFixture();
        var requester = new Requester(Dealer(fixture.Context));
        using var cancelled = new CancellationTokenSource();
        await cancelled.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => requester.AskAsync("question"u8.ToArray(), TimeSpan.FromSeconds(30), cancelled.Token));
    }

    [Fact]
    public async Task Requests_are_answered_at_the_same_time_up_to_the_limit_and_all_of_them_before_the_server_returns()
    {
        const int MaxRequests = 3;
        await using var fixture = new ContextFixture();
        using var end = CancellationTokenSource.CreateLinkedTokenSource(Guard.Token);
        RouterSocket router = fixture.Context.CreateRouter();
        DealerSocket dealer = Dealer(fixture.Context);
        dealer.Connect(router.Bind("tcp://127.0.0.1:0"));
        await fixture.UntilAsync(() => dealer.CanSend);
        var requester = new Requester(dealer);
        Task reading = requester.ReadRepliesAsync(end.Token);
        using var begun = new SemaphoreSlim(0);
        var go = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        int running = 0;
        int most = 0;
        using var stop = new CancellationTokenSource();
        Task serving = ServeConcurrentlyAsync(router, AnswerAsync, MaxRequests, stop.Token);

        Task<byte[]>[] answers = [.. Enumerable.Range(0, 8).Select(i => requester.AskAsync(BitConverter.GetBytes(i), Guard.Limit, end.Token))];
        for (int i = 0; i < MaxRequests; i++)
        {
            Assert.True(await begun.WaitAsync(Guard.Limit, Guard.Token));
        }

        Assert.False(begun.Wait(0, Guard.Token));
        go.SetResult();
        byte[][] all = await Task.WhenAll(answers).Guarded();
        Assert.Equal(Enumerable.Range(0, 8), all.Select(static bytes => BitConverter.ToInt32(bytes)));
        Assert.Equal(MaxRequests, Volatile.Read(ref most));

        await stop.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => serving.Guarded());
        await end.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => reading.Guarded());

        async Task<byte[]> AnswerAsync(ReadOnlyMemory<byte> question, CancellationToken cancellation)
        {
            int now = Interlocked.Increment(ref running);
            lock (requester)
            {
                most = Math.Max(most, now);
            }

            begun.Release();
            await go.Task.WaitAsync(Guard.Limit, cancellation);
            Interlocked.Decrement(ref running);
            return question.ToArray();
        }
    }

    private static DealerSocket Dealer(ZlinkContext context)
    {
        DealerSocket dealer = context.CreateDealer(new DealerOptions { Immediate = true });
        return dealer;
    }

    private static async Task ServeAsync(RouterSocket router, CancellationToken cancellation)
    {
        using var reply = new MessageBuilder();
        await foreach (Message request in router.ReceiveAllAsync(cancellation))
        {
            using (request)
            {
                if (request.PartCount == 2) // A request of this kind has a number and a question.
                {
                    reply.Add(request[0].Span).Add(request[1].Span);
                    await router.SendAsync(request.RoutingId, reply, cancellation);
                }
            }
        }
    }

    private static async Task ServeConcurrentlyAsync(
        RouterSocket router, Func<ReadOnlyMemory<byte>, CancellationToken, Task<byte[]>> answer, int maxRequests, CancellationToken cancellation)
    {
        using var free = new SemaphoreSlim(maxRequests);
        try
        {
            await foreach (Message request in router.ReceiveAllAsync(cancellation))
            {
                await free.WaitAsync(CancellationToken.None); // No token: the message that was received must not be lost here.
                _ = AnswerAsync(request);
            }
        }
        finally
        {
            for (int i = 0; i < maxRequests; i++)
            {
                await free.WaitAsync(CancellationToken.None); // Waits for the answers in progress.
            }
        }

        async Task AnswerAsync(Message request)
        {
            try
            {
                using (request)
                {
                    if (request.PartCount == 2)
                    {
                        byte[] result = await answer(request[1], cancellation);
                        using var reply = new MessageBuilder();
                        reply.Add(request[0].Span).Add(result);
                        await router.SendAsync(request.RoutingId, reply, CancellationToken.None);
                    }
                }
            }
            catch (Exception failure)
            {
                Console.Error.WriteLine(failure); // Or your logger. The client sees a timeout.
            }
            finally
            {
                free.Release();
            }
        }
    }

    private sealed class Requester(DealerSocket dealer)
    {
        private readonly ConcurrentDictionary<long, TaskCompletionSource<byte[]>> _waiting = new();
        private long _lastNumber;

        public async Task<byte[]> AskAsync(ReadOnlyMemory<byte> question, TimeSpan timeout, CancellationToken cancellation)
        {
            using var limit = CancellationTokenSource.CreateLinkedTokenSource(cancellation);
            limit.CancelAfter(timeout);
            long number = Interlocked.Increment(ref _lastNumber);
            var answer = new TaskCompletionSource<byte[]>(TaskCreationOptions.RunContinuationsAsynchronously);
            _waiting[number] = answer;
            try
            {
                using var request = new MessageBuilder();
                BinaryPrimitives.WriteInt64BigEndian(request.AddSpace(sizeof(long)), number);
                request.Add(question.Span);
                await dealer.SendAsync(request, limit.Token);
                return await answer.Task.WaitAsync(limit.Token);
            }
            catch (OperationCanceledException late) when (!cancellation.IsCancellationRequested)
            {
                throw new TimeoutException($"No reply within {timeout}. {dealer.Describe()}", late);
            }
            finally
            {
                _waiting.TryRemove(number, out _);
            }
        }

        public async Task ReadRepliesAsync(CancellationToken cancellation)
        {
            await foreach (Message reply in dealer.ReceiveAllAsync(cancellation))
            {
                using (reply)
                {
                    bool isReply = reply.PartCount == 2 && reply[0].Span.Length == sizeof(long);
                    if (isReply && _waiting.TryRemove(BinaryPrimitives.ReadInt64BigEndian(reply[0].Span), out TaskCompletionSource<byte[]>? answer))
                    {
                        answer.TrySetResult(reply[1].Span.ToArray());
                    }
                }
            }
        }
    }
}
