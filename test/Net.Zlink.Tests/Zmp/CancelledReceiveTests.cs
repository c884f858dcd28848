using System.Buffers.Binary;
using System.Diagnostics.CodeAnalysis;
using System.Globalization;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

/// <summary>
/// A cancelled receive takes no message with it. Each receive is cancelled at a moment of its own: before the call, at once, behind a
/// message, by another thread
/// while a message may be on its way, afterwards, or never. ZLINK_CANCELLED_RECEIVES says how many receives each test makes.
/// </summary>
[SuppressMessage("Security", "CA5394", Justification = "Chance that can be repeated is wanted here.")]
public sealed class CancelledReceiveTests
{
    private static readonly int DefaultReceives = SlowTests.Rounds(2_000, all: 20_000);

    private static int Receives =>
        int.TryParse(Environment.GetEnvironmentVariable("ZLINK_CANCELLED_RECEIVES"), NumberStyles.None, CultureInfo.InvariantCulture,
            out int asked) ? asked : DefaultReceives;

    [Theory]
    [InlineData("inproc://cancelled", "PAIR")]
    [InlineData("tcp://127.0.0.1:0", "PAIR")]
    [InlineData("inproc://cancelled", "ROUTER")]
    [InlineData("tcp://127.0.0.1:0", "ROUTER")]
    public async Task Receives_that_are_cancelled_at_any_moment_lose_no_message_and_give_none_twice(string endpoint, string receiver)
    {
        await using var fixture = new ContextFixture();
        bool isPair = string.Equals(receiver, "PAIR", StringComparison.Ordinal);
        ReceivingSocket here = isPair ? fixture.Context.CreatePair() : fixture.Context.CreateRouter();
        DuplexSocket there = isPair ? fixture.Context.CreatePair() : fixture.Context.CreateDealer();
        there.Connect(here.Bind(endpoint));
        int seed = Environment.TickCount;
        int steps = Receives;
        using var sender = new Sender(there);

        // One limit for all: a timer per receive would cost more than the receive.
        Task<(long Received, long Cancelled)> running = Task.Run(() => ReceiveAsync(here, sender, steps, seed), Guard.Token);
        await running.WhileItGoesOn(() => here.GetStatistics().DeliveredMessages);
        (long received, long cancelled) = await running;

        // All of the rest is still there, in order, and nothing else.
        long all = sender.Finish();
        for (long next = received; next < all; next++)
        {
            using Message message = await here.ReceiveAsync(Guard.Token).Guarded();
            Sender.AssertIs(next, message);
        }

        await fixture.SettleAsync();
        Assert.False(here.TryReceive(out _));
        SocketStatistics counters = here.GetStatistics();
        Assert.Equal((all, all, 0L, 0L), (counters.ReceivedMessages, counters.DeliveredMessages, counters.UnreadMessages,
            counters.DroppedUnreadMessages));
        TestContext.Current.TestOutputHelper!.WriteLine(
            $"seed {seed}, {steps} receives: {received} got a message, {cancelled} were cancelled");
        Assert.Equal(steps, received + cancelled);

        // Those that were cancelled beforehand, and those that must get one, are a sixth and two sixths: the rest is decided by who comes
        // first.
        Assert.InRange(cancelled, steps / 7, steps * 5L / 7);
    }

    /// <summary>When a receive is cancelled.</summary>
    private enum Moment
    {
        Beforehand,
        AtOnce,
        BehindASend,
        BySomebodyElse,
        Afterwards,
        Never,
    }

    private static async Task<(long Received, long Cancelled)> ReceiveAsync(ReceivingSocket socket, Sender sender, int steps, int seed)
    {
        using var canceller = new Canceller(seed + 1);
        var random = new Random(seed);
        long received = 0;
        long cancelled = 0;
        for (int step = 0; step < steps; step++)
        {
            var moment = (Moment)random.Next(6);
            var source = new CancellationTokenSource();
            CancellationToken token = source.Token;
            if (moment == Moment.Beforehand)
            {
                await source.CancelAsync();
            }

            // Mostly nothing is there yet, so that the receive has to wait; now and then there is a heap.
            sender.Allow(random.Next(256) == 0 ? random.Next(60) : random.Next(8) == 0 ? 1 : 0);
            if (moment is Moment.Afterwards or Moment.Never && sender.Allowed == received)
            {
                sender.Allow(1);
            }

            ValueTask<Message> receiving = socket.ReceiveAsync(token);
            if (moment is Moment.AtOnce or Moment.BehindASend)
            {
                if (moment == Moment.BehindASend)
                {
                    sender.SendNow();
                }

                source.Cancel();
            }
            else if (moment == Moment.BySomebodyElse)
            {
                canceller.Cancel(source); // and disposed there: it may come as late as the next receive.
            }

            try
            {
                using Message message = await receiving;
                Sender.AssertIs(received, message);
                Assert.NotEqual(Moment.Beforehand, moment);
                received++;
            }
            catch (OperationCanceledException e)
            {
                Assert.Equal(token, e.CancellationToken);
                cancelled++;
            }

            if (moment == Moment.Afterwards)
            {
                source.Cancel();
            }

            if (moment != Moment.BySomebodyElse)
            {
                source.Dispose();
            }
        }

        return (received, cancelled);
    }

    /// <summary>Sends numbered messages, every 16th in three parts, on a thread of its own, as many as it is allowed to.</summary>
    private sealed class Sender : IDisposable
    {
        private readonly DuplexSocket _socket;
        private readonly Thread _thread;
        private readonly Lock _gate = new();
        private readonly MessageBuilder _builder = new();
        private long _allowed;
        private long _sent;
        private bool _isEnded;

        public Sender(DuplexSocket socket)
        {
            _socket = socket;
            _thread = new Thread(Run) { IsBackground = true };
            _thread.Start();
        }

        public long Allowed => Volatile.Read(ref _allowed);

        public static void AssertIs(long number, in Message message)
        {
            int parts = number % 16 == 0 ? 3 : 1;
            if (message.PartCount != parts || BinaryPrimitives.ReadInt64LittleEndian(message[parts - 1].Span) != number)
            {
                Assert.Fail($"message {number} was expected, and "
                    + $"{BinaryPrimitives.ReadInt64LittleEndian(message[message.PartCount - 1].Span)} in {message.PartCount} parts came");
            }
        }

        public void Allow(int more) => Volatile.Write(ref _allowed, _allowed + more);

        /// <summary>Sends one from the calling thread, if none is due from the other one.</summary>
        public void SendNow()
        {
            lock (_gate)
            {
                if (_sent == _allowed)
                {
                    _allowed++;
                    SendOne();
                }
            }
        }

        /// <summary>Lets it send what it is allowed to, and says how many that were altogether.</summary>
        public long Finish()
        {
            Volatile.Write(ref _isEnded, true);
            _thread.JoinGuarded();
            return _sent;
        }

        public void Dispose()
        {
            Finish();
            _builder.Dispose();
        }

        private void Run()
        {
            while (true)
            {
                bool isEnded = Volatile.Read(ref _isEnded);
                if (_sent < Volatile.Read(ref _allowed))
                {
                    lock (_gate)
                    {
                        if (_sent < _allowed)
                        {
                            SendOne();
                        }
                    }
                }
                else if (isEnded)
                {
                    return;
                }
                else
                {
                    Thread.Yield();
                }
            }
        }

        private void SendOne()
        {
            Span<byte> number = stackalloc byte[8];
            BinaryPrimitives.WriteInt64LittleEndian(number, _sent);
            if (_sent % 16 == 0)
            {
                _socket.Send(_builder.Add("of three"u8).Add([]).Add(number));
            }
            else
            {
                _socket.Send(number);
            }

            _sent++;
        }
    }

    /// <summary>Cancels from a thread of its own, some turns later.</summary>
    private sealed class Canceller : IDisposable
    {
        private readonly Thread _thread;
        private readonly Random _random;
        private CancellationTokenSource? _next;
        private bool _isEnded;

        public Canceller(int seed)
        {
            _random = new Random(seed);
            _thread = new Thread(Run) { IsBackground = true };
            _thread.Start();
        }

        /// <summary>Takes the source over, as soon as it is through with the one before.</summary>
        public void Cancel(CancellationTokenSource source)
        {
            while (Interlocked.CompareExchange(ref _next, source, null) is not null)
            {
                Thread.Yield();
            }
        }

        public void Dispose()
        {
            Volatile.Write(ref _isEnded, true);
            _thread.JoinGuarded();
        }

        private void Run()
        {
            const int LongestDelay = 400; // spins: some microseconds, the time that a message takes
            while (!Volatile.Read(ref _isEnded) || Volatile.Read(ref _next) is not null)
            {
                if (Volatile.Read(ref _next) is { } source)
                {
                    Thread.SpinWait(_random.Next(LongestDelay));
                    source.Cancel();
                    source.Dispose();
                    Volatile.Write(ref _next, null);
                }
                else
                {
                    Thread.Yield();
                }
            }
        }
    }
}
