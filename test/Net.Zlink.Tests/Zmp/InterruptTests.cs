using System.Buffers.Binary;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

/// <summary>Threads that send and receive are interrupted at any moment: some waits end by it, and nothing else happens.</summary>
public sealed class InterruptTests
{
    private const int Threads = 3;

    // Enough for some thousand interruptions.
    private const int PerSender = 10_000;

    // More than one lease, slab and spare of each.
    private const int WarmUp = 1_000;

    [Theory]
    [InlineData("inproc://interrupts", 1_000_000)]
    [InlineData("inproc://interrupts", 5)]
    [InlineData("tcp://127.0.0.1:0", 5)]
    public async Task Interrupted_sends_are_not_sent_and_all_others_arrive_once_and_in_order(string endpoint, int mark)
    {
        await using var fixture = new ContextFixture();
        PairSocket receiver = fixture.Context.CreatePair(new PairOptions { ReceiveHighWaterMark = mark });
        PairSocket sender = fixture.Context.CreatePair(new PairOptions { SendHighWaterMark = mark });
        sender.Connect(receiver.Bind(endpoint));

        // What a process does for the first time initializes classes, and who waits for that in the runtime may be interrupted there.
        for (int i = 0; i < WarmUp; i++)
        {
            sender.Send(new byte[8]);
            using Message message = receiver.Receive();
        }

        var interrupter = new Interrupter(2 * Threads);
        var threads = new TestThreads();
        var received = new List<int>[Threads];
        int left = Threads * PerSender;
        for (int i = 0; i < Threads; i++)
        {
            int number = i;
            List<int> mine = received[number] = [];
            byte[] payload = new byte[8];
            int next = 0;
            threads.Start(() => interrupter.Run(number, () => next < PerSender, () =>
            {
                BinaryPrimitives.WriteInt32LittleEndian(payload, (number * PerSender) + next);
                sender.Send(payload);
                next++;
            }));
            threads.Start(() => interrupter.Run(Threads + number, () => Volatile.Read(ref left) > 0, () =>
            {
                using Message message = receiver.Receive();
                mine.Add(BinaryPrimitives.ReadInt32LittleEndian(message.Span));
                Interlocked.Decrement(ref left);
            }));
        }

        threads.Start(interrupter.InterruptUntilAllHaveEnded);
        await threads.JoinAsync(() => receiver.GetStatistics().DeliveredMessages);
        Assert.Equal(Enumerable.Range(0, Threads * PerSender), received.SelectMany(static one => one).Order());
        foreach (List<int> one in received)
        {
            // Which thread gets which is up to them; what one of them got of one sender is in that sender's order.
            Assert.All(one.GroupBy(static message => message / PerSender), static ofSender => Assert.Equal(ofSender.Order(), ofSender));
        }

        Assert.False(receiver.TryReceive(out _));
    }

    /// <summary>Interrupts threads at random moments.</summary>
    private sealed class Interrupter(int threads)
    {
        private readonly Thread?[] _threads = new Thread?[threads];
        private int _running = threads;

        public void Run(int number, Func<bool> goesOn, Action step)
        {
            Volatile.Write(ref _threads[number], Thread.CurrentThread);
            try
            {
                while (goesOn())
                {
                    Survive(step);
                }
            }
            finally
            {
                // Nothing may meet the thread when it ends, which is beyond any test's catch.
                bool isLeft = false;
                while (!isLeft)
                {
                    Survive(() =>
                    {
                        lock (_threads)
                        {
                            _threads[number] = null;
                        }

                        Thread.CurrentThread.Join(0);
                        isLeft = true;
                    });
                }

                Interlocked.Decrement(ref _running);
            }
        }

        public void InterruptUntilAllHaveEnded()
        {
            var random = new Random(4711);
            while (Volatile.Read(ref _running) > 0)
            {
                lock (_threads)
                {
                    _threads[random.Next(_threads.Length)]?.Interrupt();
                }

                Thread.SpinWait(random.Next(2_000));
            }
        }

        private static void Survive(Action step)
        {
            try
            {
                step();
            }
            catch (ThreadInterruptedException)
            {
                // The step is made once more, if there is still something to do.
            }
        }
    }
}
