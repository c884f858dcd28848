using System.Runtime.CompilerServices;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Stream;

/// <summary>Connects and disconnects, 10,000 of them with <see cref="SlowTests"/>, leave nothing behind: no memory, no descriptor, no
/// buffer.</summary>
[Collection(Alone.Name)]
public sealed class ChurnTests
{
    private static readonly int Connections = SlowTests.Rounds(2_000, all: 10_000);
    private const int AtOnce = 8;
    private const long AllowedMemory = 4L * 1024 * 1024;
    private const int AllowedDescriptors = 8;

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task Thousands_of_connects_and_disconnects_leave_nothing_behind(bool pushed)
    {
        await using var fixture = new StreamFixture();
        var echo = new TestHandler { Received = TestHandler.EchoAsync, TakesNotes = false };
        StreamSocket socket = pushed ? fixture.Bind(echo, out string endpoint) : fixture.Bind(out endpoint);
        var events = new StrongBox<long>();
        Task echoing = pushed ? Task.CompletedTask : EchoAsync(socket, events);
        await ChurnAsync(fixture, socket, endpoint, 500); // what is made once and kept is made here
        (long memory, int descriptors, long buffers) = Measure(fixture);

        await ChurnAsync(fixture, socket, endpoint, Connections);

        (long memoryAfter, int descriptorsAfter, long buffersAfter) = Measure(fixture);
        Assert.InRange(memoryAfter - memory, long.MinValue, AllowedMemory);
        Assert.InRange(descriptorsAfter - descriptors, int.MinValue, AllowedDescriptors);
        Assert.Equal(buffers, buffersAfter);
        Assert.Equal(0, socket.PeerCount);
        SocketStatistics counters = socket.GetStatistics();
        Assert.Equal((Connections + 500L, Connections + 500L, 0L),
            (counters.AcceptedConnections, counters.ClosedConnections, counters.RefusedConnections));
        // The last one's end may be unread still, and what is unread ends with the socket.
        await fixture.UntilAsync(() => pushed || Volatile.Read(ref events.Value) == 2 * (Connections + 500));
        socket.Dispose();
        await echoing.Guarded();
        Assert.Equal(pushed ? 0 : 2 * (Connections + 500), events.Value);
    }

    private static async Task ChurnAsync(StreamFixture fixture, StreamSocket socket, string endpoint, int count)
    {
        long before = socket.GetStatistics().ClosedConnections;
        await Task.WhenAll(Enumerable.Range(0, AtOnce).Select(async lane =>
        {
            for (int i = lane; i < count; i += AtOnce)
            {
                using RawPeer peer = await RawPeer.ConnectAsync(endpoint);
                switch (i % 4)
                {
                    case 0: // says nothing
                        break;
                    case 1: // ends in order after a round trip
                        await peer.SendFrameAsync((byte)i);
                        Assert.Equal([(byte)i], (await peer.ReadFrameAsync())!);
                        peer.EndSending();
                        Assert.Empty(await peer.ReadToEndAsync());
                        break;
                    case 2: // breaks off in the middle of a frame
                        await peer.SendAsync(Wire.Header(100));
                        peer.Reset();
                        break;
                    default: // does not wait for the answer
                        await peer.SendFrameAsync(Wire.Pattern(1000));
                        peer.Reset();
                        break;
                }
            }
        }));
        await fixture.UntilAsync(() => socket.GetStatistics().ClosedConnections == before + count);
    }

    private static async Task EchoAsync(StreamSocket socket, StrongBox<long> events)
    {
        await foreach (StreamMessage message in socket.ReceiveAllAsync(Guard.Token))
        {
            using (message)
            {
                if (message.Kind == StreamMessageKind.Data)
                {
                    socket.To(message.PeerId).TrySend(message.Span);
                }
                else
                {
                    Volatile.Write(ref events.Value, events.Value + 1);
                }
            }
        }
    }

    private static (long Memory, int Descriptors, long Buffers) Measure(StreamFixture fixture)
    {
        // Sockets and what hangs on them are finalized in rounds.
        long memory = long.MaxValue;
        for (int round = 0; round < 3; round++)
        {
            memory = GC.GetTotalMemory(forceFullCollection: true);
            GC.WaitForPendingFinalizers();
        }

        // Not those of assemblies, which the runtime loads when it first needs them.
        int descriptors = OperatingSystem.IsLinux() ? Directory.GetFileSystemEntries("/proc/self/fd").Count(IsSocket) : 0;
        return (memory, descriptors, fixture.Pool.GetStatistics().Live);
    }

    private static bool IsSocket(string descriptor)
    {
        try
        {
            return new FileInfo(descriptor).LinkTarget is { } target && target.StartsWith("socket:", StringComparison.Ordinal);
        }
        catch (IOException)
        {
            return false; // Closed meanwhile.
        }
    }
}
