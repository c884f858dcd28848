using System.Diagnostics;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

/// <summary>How long a blocking send waits: as long as the call says, else as long as the option does.</summary>
public sealed class SendTimeoutTests
{
    private static readonly TimeSpan Short = TimeSpan.FromMilliseconds(30);

    public static TheoryData<string, string> Ways
    {
        get
        {
            var ways = new TheoryData<string, string>();
            foreach (string type in (string[])["PAIR", "DEALER", "ROUTER", "PUB", "XPUB"])
            {
                foreach (string what in (string[])["payload", "parts", "message"])
                {
                    ways.Add(type, what);
                }
            }

            return ways;
        }
    }

    [Theory]
    [MemberData(nameof(Ways))]
    public async Task A_send_with_a_timeout_gives_up_after_it_whatever_the_option_says(string type, string what)
    {
        await using var fixture = new ContextFixture();
        using var full = await FullSender.CreateAsync(fixture, type); // The option: as long as it takes.
        long started = Stopwatch.GetTimestamp();
        Assert.Throws<TimeoutException>(() => full.Send(what, Short));
        Assert.True(Stopwatch.GetElapsedTime(started) >= Short, "it did not wait");
        Assert.Throws<TimeoutException>(() => full.Send(what, TimeSpan.Zero));
        Assert.Throws<ArgumentOutOfRangeException>(() => full.Send(what, TimeSpan.FromSeconds(-2)));
        full.AssertNothingOfItWasSent();
    }

    [Theory]
    [MemberData(nameof(Ways))]
    public async Task A_send_with_a_timeout_waits_for_room_though_the_option_says_not_to(string type, string what)
    {
        await using var fixture = new ContextFixture();
        using var full = await FullSender.CreateAsync(fixture, type);
        full.Sender.Options.SendTimeout = TimeSpan.Zero;
        Assert.Throws<TimeoutException>(() => full.Send(what, timeout: null));
        using var begun = new ManualResetEventSlim();
        var sending = new Thread(() =>
        {
            begun.Set();
            full.Send(what, Timeout.InfiniteTimeSpan);
        });
        sending.Start();
        Assert.True(begun.Wait(Guard.Limit, Guard.Token));
        full.Drain();
        sending.JoinGuarded();
        full.AssertItWasSent();
    }

    /// <summary>A socket whose one peer is at its high-water mark and reads only when the test says.</summary>
    private sealed class FullSender : IDisposable
    {
        private readonly BatchPair _pair;
        private readonly MessageBuilder _parts;
        private readonly Message _passedOn;
        private int _inQueue;

        private FullSender(ContextFixture fixture, BatchPair pair)
        {
            _pair = pair;
            _parts = new MessageBuilder(fixture.Pool).Add("it"u8).Add("has parts"u8);
            using PairSocket from = fixture.Context.CreatePair();
            using PairSocket to = fixture.Context.CreatePair();
            to.Connect(from.Bind("inproc://passed-on"));
            from.Send("it"u8);
            _passedOn = to.Receive();
        }

        public ZmpSocket Sender => _pair.Sender;

        public static async Task<FullSender> CreateAsync(ContextFixture fixture, string type)
        {
            var full = new FullSender(fixture, await BatchPair.CreateAsync(fixture.Context, type, highWaterMark: 1));
            while (full._pair.SendPayloads(new ReadOnlyMemory<byte>[] { "fill"u8.ToArray() }) == 1)
            {
                full._inQueue++;
            }

            return full;
        }

        public void Send(string what, TimeSpan? timeout)
        {
            switch (Sender, what, timeout)
            {
                case (RouterSocket router, "payload", { } time): router.To(BatchPair.PeerId).Send("it"u8, time); break;
                case (RouterSocket router, "parts", { } time): router.To(BatchPair.PeerId).Send(_parts, time); break;
                case (RouterSocket router, _, { } time): router.To(BatchPair.PeerId).Send(in _passedOn, time); break;
                case (PubSocket publisher, "payload", { } time): publisher.Send("it"u8, time); break;
                case (PubSocket publisher, "parts", { } time): publisher.Send(_parts, time); break;
                case (PubSocket publisher, _, { } time): publisher.Send(in _passedOn, time); break;
                case (DuplexSocket duplex, "payload", { } time): duplex.Send("it"u8, time); break;
                case (DuplexSocket duplex, "parts", { } time): duplex.Send(_parts, time); break;
                case (DuplexSocket duplex, _, { } time): duplex.Send(in _passedOn, time); break;
                case (RouterSocket router, "payload", _): router.To(BatchPair.PeerId).Send("it"u8); break;
                case (RouterSocket router, "parts", _): router.To(BatchPair.PeerId).Send(_parts); break;
                case (RouterSocket router, _, _): router.To(BatchPair.PeerId).Send(in _passedOn); break;
                case (PubSocket publisher, "payload", _): publisher.Send("it"u8); break;
                case (PubSocket publisher, "parts", _): publisher.Send(_parts); break;
                case (PubSocket publisher, _, _): publisher.Send(in _passedOn); break;
                case (DuplexSocket duplex, "payload", _): duplex.Send("it"u8); break;
                case (DuplexSocket duplex, "parts", _): duplex.Send(_parts); break;
                default: ((DuplexSocket)Sender).Send(in _passedOn); break;
            }
        }

        /// <summary>Takes what filled the queue, so that what waits has room.</summary>
        public void Drain()
        {
            for (; _inQueue > 0; _inQueue--)
            {
                using Message message = _pair.Receiver.Receive(Guard.Limit);
                Assert.Equal("fill"u8, message.Span);
            }
        }

        public void AssertItWasSent()
        {
            using Message message = _pair.Receiver.Receive(Guard.Limit);
            Assert.Equal("it"u8, message.Span);
        }

        public void AssertNothingOfItWasSent()
        {
            Drain();
            Assert.False(_pair.Receiver.TryReceive(out _));
            Assert.Equal((2, 1), (_parts.Count, _passedOn.PartCount));
        }

        public void Dispose()
        {
            _parts.Dispose();
            _passedOn.Dispose();
        }
    }
}
