using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Services.Tests;

public class PendingRequestsTests
{
    private static readonly RequestOutcome Lost = new(RequestOutcomeKind.Lost);
    private readonly ReceiverLink[] _links = [new("tcp://a", 1), new("tcp://b", 2), new("tcp://c", 3)];

    [Fact]
    public void Each_request_ends_once_and_every_slot_returns_whatever_ends_it()
    {
        int requests = Faults.Rounds(100_000, more: 200_000, byHand: 1_000_000);
        const int AtOnce = 1_000;
        var time = new ManualTimeProvider();
        var ends = new Dictionary<RequestOutcomeKind, int>();
        var open = new List<ulong>();
        int expired = 0;
        int seed = Environment.TickCount;
        var random = new Random(seed);
        PendingRequests table = null!;
        table = new PendingRequests(time, request =>
        {
            expired++;
            Finish(request);
        });
        using PendingRequests disposed = table;
        int ended = 0;
        for (int started = 0; started < requests || table.Count > 0;)
        {
            while (started < requests && (table.Count < AtOnce || open.Count == 0))
            {
                open.Add(Begin(random.Next(10) == 0 ? Timeout.InfiniteTimeSpan : TimeSpan.FromMilliseconds(random.Next(1, 8_000))));
                started++;
            }

            int place = random.Next(open.Count);
            ulong id = open[place];
            open[place] = open[^1];
            open.RemoveAt(open.Count - 1);
            switch (random.Next(500))
            {
                case 0:
                    time.Advance(TimeSpan.FromMilliseconds(random.Next(600)));
                    break;
                case 1 when started % 4 == 0:
                    foreach (PendingRequest lost in table.TakeLost(_links[random.Next(_links.Length)], Lost, static _ => true))
                    {
                        End(lost, RequestOutcomeKind.Lost);
                    }

                    break;
                case < 50:
                    Take(id, RequestOutcomeKind.Cancelled, from: null);
                    break;
                case < 100:
                    Take(id, RequestOutcomeKind.Refused, _links[random.Next(_links.Length)]);
                    break;
                default:
                    Take(id, RequestOutcomeKind.Replied, _links[random.Next(_links.Length)]);
                    break;
            }

            if (open.Count == 0)
            {
                // What a wrong receiver has answered, or nobody, ends by its time or by a loss.
                time.Advance(TimeSpan.FromSeconds(1));
                foreach (PendingRequest last in _links.SelectMany(link => table.TakeLost(link, Lost, static _ => true)))
                {
                    End(last, RequestOutcomeKind.Lost);
                }
            }
        }

        (int used, int free) = table.Slots;
        Assert.True(used == free, $"{used - free} slots are missing (seed {seed})");
        Assert.Equal(requests, ended + expired);
        Assert.All(_links, static link => Assert.Equal(0, link.Outstanding));
        Assert.All([RequestOutcomeKind.Replied, RequestOutcomeKind.Cancelled, RequestOutcomeKind.Lost],
            kind => Assert.True(ends[kind] > 0, $"no request ended as {kind} (seed {seed})"));
        Assert.True(expired > 0, $"no time was over (seed {seed})");

        ulong Begin(TimeSpan timeout)
        {
            PendingRequest request = table.Rent();
            request.Call = CallWith(timeout);
            table.Add(request);
            ReceiverLink link = _links[random.Next(_links.Length)];
            Assert.True(table.BeginAttempt(request, link, new ServiceInstance("svc", link.Endpoint)));
            Assert.False(table.EndSending(request, out _));
            return request.Id;
        }

        void Take(ulong taken, RequestOutcomeKind kind, ReceiverLink? from)
        {
            if (!table.TryTake(taken, from, new RequestOutcome(kind), out PendingRequest? request))
            {
                return;
            }

            Assert.NotNull(request);
            if (kind != RequestOutcomeKind.Refused)
            {
                End(request, kind);
                return;
            }

            // Its sender goes on: half of them find another receiver, half none.
            if (random.Next(2) == 0)
            {
                Assert.True(table.BeginAttempt(request, _links[random.Next(_links.Length)], new ServiceInstance("svc", "x")));
                Assert.False(table.EndSending(request, out _));
                open.Add(request.Id);
            }
            else
            {
                End(request, table.EndBySender(request, new RequestOutcome(RequestOutcomeKind.NoReceiver)).Kind);
            }
        }

        void End(PendingRequest request, RequestOutcomeKind kind)
        {
            ended++;
            ends[kind] = ends.GetValueOrDefault(kind) + 1;
            Finish(request);
        }

        static void Finish(PendingRequest request)
        {
            ValueTask<ServiceReply> task = request.Task;
            request.Complete(default); // Throws if it was completed before.
            Assert.True(task.IsCompletedSuccessfully);
            _ = task.GetAwaiter().GetResult();
        }
    }

    [Fact]
    public void A_reply_counts_only_from_the_receiver_that_was_asked()
    {
        using var table = new PendingRequests(new ManualTimeProvider(), static _ => { });
        PendingRequest request = Sent(table, _links[0]);

        Assert.False(table.TryTake(request.Id, _links[1], new RequestOutcome(RequestOutcomeKind.Replied), out _));
        Assert.True(table.TryTake(request.Id, _links[0], new RequestOutcome(RequestOutcomeKind.Replied), out _));
        Assert.False(table.TryTake(request.Id, _links[0], new RequestOutcome(RequestOutcomeKind.Replied), out _));
    }

    [Fact]
    public void A_reply_that_comes_while_its_request_is_being_sent_is_the_senders()
    {
        using var table = new PendingRequests(new ManualTimeProvider(), static _ => { });
        PendingRequest request = table.Rent();
        request.Call = CallWith(Timeout.InfiniteTimeSpan);
        table.Add(request);
        table.BeginAttempt(request, _links[0], new ServiceInstance("svc", "tcp://a"));

        Assert.True(table.TryTake(request.Id, _links[0], new RequestOutcome(RequestOutcomeKind.Replied), out PendingRequest? mine));
        Assert.Null(mine);
        Assert.False(table.TryTake(request.Id, _links[0], new RequestOutcome(RequestOutcomeKind.Replied), out _));
        Assert.True(table.EndSending(request, out RequestOutcome outcome));
        Assert.Equal(RequestOutcomeKind.Replied, outcome.Kind);
        Assert.Equal(0, table.Count);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void The_end_of_a_connection_is_void_for_a_request_that_was_not_sent_by_it(bool isDrained)
    {
        using var table = new PendingRequests(new ManualTimeProvider(), static _ => { });
        PendingRequest request = table.Rent();
        request.Call = CallWith(Timeout.InfiniteTimeSpan);
        table.Add(request);
        table.BeginAttempt(request, _links[0], new ServiceInstance("svc", "tcp://a"));

        RequestOutcome end = isDrained ? new RequestOutcome(RequestOutcomeKind.Refused) : Lost;
        Assert.Empty(table.TakeLost(_links[0], end, static _ => true));
        table.UndoAttempt(request);

        Assert.True(table.BeginAttempt(request, _links[1], new ServiceInstance("svc", "tcp://b")));
        Assert.False(table.EndSending(request, out _));
        Assert.Equal((0, 1), (_links[0].Outstanding, _links[1].Outstanding));
    }

    [Fact]
    public void A_refusal_by_a_receiver_that_has_not_got_the_request_ends_no_wait_and_is_void()
    {
        using var table = new PendingRequests(new ManualTimeProvider(), static _ => { });
        PendingRequest request = table.Rent();
        request.Call = CallWith(Timeout.InfiniteTimeSpan);
        table.Add(request);
        CancellationToken waiting = table.BeginWaiting(request);
        table.BeginAttempt(request, _links[0], new ServiceInstance("svc", "tcp://a"));

        Assert.True(table.TryTake(request.Id, _links[0], new RequestOutcome(RequestOutcomeKind.Refused), out _));
        Assert.False(waiting.IsCancellationRequested);
        table.UndoAttempt(request);

        Assert.True(table.BeginAttempt(request, _links[1], new ServiceInstance("svc", "tcp://b")));
        Assert.False(table.EndSending(request, out _));
    }

    [Fact]
    public void A_request_that_is_cancelled_before_it_is_handed_to_a_receiver_is_not_sent()
    {
        using var table = new PendingRequests(new ManualTimeProvider(), static _ => { });
        PendingRequest request = table.Rent();
        request.Call = CallWith(Timeout.InfiniteTimeSpan);
        table.Add(request);
        Assert.True(table.TryTake(request.Id, from: null, new RequestOutcome(RequestOutcomeKind.Cancelled), out _));

        Assert.False(table.BeginAttempt(request, _links[0], new ServiceInstance("svc", "tcp://a")));

        Assert.True(table.EndSending(request, out RequestOutcome outcome));
        Assert.Equal(RequestOutcomeKind.Cancelled, outcome.Kind);
    }

    [Fact]
    public void The_time_of_a_request_ends_it_also_behind_the_loss_of_a_connection_that_it_was_not_sent_by()
    {
        var time = new ManualTimeProvider();
        using var table = new PendingRequests(time, static _ => { });
        PendingRequest request = table.Rent();
        request.Call = CallWith(TimeSpan.FromSeconds(1));
        table.Add(request);
        table.BeginAttempt(request, _links[0], new ServiceInstance("svc", "tcp://a"));
        table.TakeLost(_links[0], Lost, static _ => true);

        time.Advance(TimeSpan.FromSeconds(2));
        table.UndoAttempt(request);

        Assert.True(table.EndSending(request, out RequestOutcome outcome));
        Assert.Equal(RequestOutcomeKind.TimedOut, outcome.Kind);
        Assert.Equal(0, table.Count);
    }

    [Fact]
    public void A_late_reply_to_a_slot_that_is_used_again_finds_nobody()
    {
        using var table = new PendingRequests(new ManualTimeProvider(), static _ => { });
        PendingRequest first = Sent(table, _links[0]);
        ulong old = first.Id;
        Assert.True(table.TryTake(old, from: null, new RequestOutcome(RequestOutcomeKind.Cancelled), out _));
        PendingRequest second = Sent(table, _links[0]);

        Assert.NotEqual(old, second.Id);
        Assert.False(table.TryTake(old, _links[0], new RequestOutcome(RequestOutcomeKind.Replied), out _));
        Assert.Equal(1, table.Count);
    }

    [Fact]
    public async Task A_token_of_an_earlier_request_does_not_cancel_the_one_that_has_its_object_now()
    {
        using var table = new PendingRequests(new ManualTimeProvider(), static _ => { });
        using var first = new CancellationTokenSource();
        using var second = new CancellationTokenSource();
        PendingRequest request = SentWith(table, _links[0], first.Token);
        var cancelled = new RequestOutcome(RequestOutcomeKind.Cancelled);
        Assert.True(table.TryTake(request.Id, _links[0], new RequestOutcome(RequestOutcomeKind.Replied), out _));
        ValueTask<ServiceReply> task = request.Task;
        request.Complete(default);
        Assert.True(task.IsCompletedSuccessfully);
        await task;
        Assert.False(table.TryTakeOf(request, first.Token, cancelled, out _)); // It is nobody's.

        Assert.Same(request, SentWith(table, _links[0], second.Token));
        Assert.False(table.TryTakeOf(request, first.Token, cancelled, out _));
        Assert.Equal(1, table.Count);
        Assert.True(table.TryTakeOf(request, second.Token, cancelled, out PendingRequest? taken));
        Assert.Same(request, taken);
    }

    [Fact]
    public void Time_is_never_over_too_early_and_at_most_20_ms_late()
    {
        var time = new ManualTimeProvider();
        int expired = 0;
        using var table = new PendingRequests(time, _ => expired++);
        PendingRequest request = table.Rent();
        request.Call = CallWith(TimeSpan.FromSeconds(17));
        table.Add(request);
        table.BeginAttempt(request, _links[0], new ServiceInstance("svc", "tcp://a"));
        table.EndSending(request, out _);

        time.Advance(TimeSpan.FromMilliseconds(16_999));
        Assert.Equal(0, expired);
        time.Advance(TimeSpan.FromMilliseconds(21));
        Assert.Equal(1, expired);
    }

    private static RequestCall CallWith(TimeSpan timeout) =>
        new(new ServicePool("svc"), default, default, Parts: null, timeout, CancellationToken.None);

    private static PendingRequest Sent(PendingRequests table, ReceiverLink link) => SentWith(table, link, CancellationToken.None);

    private static PendingRequest SentWith(PendingRequests table, ReceiverLink link, CancellationToken token)
    {
        PendingRequest request = table.Rent();
        request.Call = CallWith(Timeout.InfiniteTimeSpan) with { Token = token };
        table.Add(request);
        table.BeginAttempt(request, link, new ServiceInstance("svc", link.Endpoint));
        table.EndSending(request, out _);
        return request;
    }
}
