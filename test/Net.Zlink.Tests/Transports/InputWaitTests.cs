using System.Net.Sockets;
using Net.Zlink.Tests.Support;
using Net.Zlink.Transports;
using Xunit;
using static Net.Zlink.Tests.Engine.EngineKit;

namespace Net.Zlink.Tests.Transports;

public sealed class InputWaitTests
{
    [Fact]
    public async Task It_ends_when_bytes_come_and_takes_none_of_them_however_often()
    {
        (Socket peer, Socket ours) = await ConnectedPairAsync();
        using (peer)
        using (ours)
        {
            using var wait = new InputWait(ours);
            for (int i = 0; i < 100; i++)
            {
                Task<int> waiting = wait.WaitAsync().AsTask();
                Assert.False(waiting.IsCompleted);
                peer.Send([1, 2, 3]);
                Assert.Equal(0, await waiting.Guarded());
                Assert.True(wait.WaitAsync().AsTask().IsCompletedSuccessfully); // They are still there.
                Assert.Equal(3, ours.Receive(new byte[10]));
            }
        }
    }

    [Fact]
    public async Task It_ends_at_the_peers_end()
    {
        (Socket peer, Socket ours) = await ConnectedPairAsync();
        using (peer)
        using (ours)
        {
            using var wait = new InputWait(ours);
            Task<int> waiting = wait.WaitAsync().AsTask();
            peer.Shutdown(SocketShutdown.Send);
            Assert.Equal(0, await waiting.Guarded());
            Assert.Equal(0, ours.Receive(new byte[10]));
        }
    }

    [Fact]
    public async Task A_reset_is_an_error_of_the_stream_or_shows_in_the_next_read()
    {
        (Socket peer, Socket ours) = await ConnectedPairAsync();
        using (ours)
        {
            using var wait = new InputWait(ours);
            Task<int> waiting = wait.WaitAsync().AsTask();
            peer.LingerState = new LingerOption(enable: true, seconds: 0);
            peer.Dispose();
            Exception? failure = await Record.ExceptionAsync(() => waiting.Guarded());
            Assert.True(failure is null or IOException { InnerException: SocketException }, failure?.ToString());
        }
    }

    [Fact]
    public async Task Disposing_of_the_socket_ends_it()
    {
        (Socket peer, Socket ours) = await ConnectedPairAsync();
        using (peer)
        {
            using var wait = new InputWait(ours);
            Task<int> waiting = wait.WaitAsync().AsTask();
            ours.Dispose();
            Exception? failure = await Record.ExceptionAsync(() => waiting.Guarded());
            Assert.True(StreamFaults.IsOfStream(failure!), failure?.ToString());
            Exception? late = await Record.ExceptionAsync(() => wait.WaitAsync().AsTask().Guarded());
            Assert.True(StreamFaults.IsOfStream(late!), late?.ToString());
        }
    }
}
