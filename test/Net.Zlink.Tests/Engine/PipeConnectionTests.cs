using System.IO.Pipelines;
using System.Net.Sockets;
using Net.Zlink.Buffers;
using Net.Zlink.Engine;
using Net.Zlink.Monitoring;
using Net.Zlink.Tests.Buffers;
using Net.Zlink.Transports;
using Xunit;
using static Net.Zlink.Tests.Engine.EngineFixture;

namespace Net.Zlink.Tests.Engine;

public sealed class PipeConnectionTests
{
    private static readonly ConnectionSettings Settings = new()
    {
        MessageLimit = 1, // Of a frame: bytes without frames have none.
        Outbound = default,
        IdleTimeout = default,
        WriteTimeout = default,
        Linger = Timeout.InfiniteTimeSpan,
        CloseTimeout = TimeSpan.FromSeconds(20),
    };

    [Fact]
    public async Task An_orderly_close_writes_what_was_flushed_and_then_ends()
    {
        // The close comes while bytes wait: once before the loop has seen them, once in the middle of a write that the peer does not take
        // yet.
        foreach (int length in (int[])[10, 5_000_000])
        {
            CancellationToken cancellation = TestContext.Current.CancellationToken;
            (Socket peer, PipeConnection connection) = await OpenAsync();
            using Socket _ = peer;
            Task running = connection.RunAsync();
            byte[] sent = Pattern(length, 1);
            ValueTask<FlushResult> flushing = connection.Output.WriteAsync(sent, cancellation);
            connection.RequestClose(DisconnectReason.Local, CloseMode.Orderly);
            byte[] received = await ReadToEndAsync(peer);
            Assert.Equal(sent, received);
            await flushing.AsTask().WaitAsync(Patience, cancellation);
            peer.Dispose();
            await running.WaitAsync(Patience, cancellation);
        }
    }

    [Fact]
    public async Task An_orderly_close_that_meets_bytes_behind_a_blocked_write_sends_them_and_ends()
    {
        CancellationToken cancellation = TestContext.Current.CancellationToken;
        (Socket peer, Socket ours) = await ConnectedPairAsync();
        using Socket _ = peer;
        int filled = 0;
        SocketError error = SocketError.Success;
        while (error == SocketError.Success)
        {
            filled += ours.Send(new byte[100_000], SocketFlags.None, out error);
        }

        var connection = new PipeConnection(
            new SocketWire(ours, Tcp), BufferPool.Shared, TimeProvider.System, Settings, PipeScheduler.Inline);
        Task running = connection.RunAsync();
        await connection.Output.WriteAsync((byte[])[1, 2], cancellation); // Taken by the loop, which waits for the kernel.
        await connection.Output.WriteAsync((byte[])[3], cancellation);    // Waits in the pipe.
        connection.RequestClose(DisconnectReason.Local, CloseMode.Orderly);
        byte[] received = await ReadToEndAsync(peer);
        Assert.Equal([1, 2, 3], received[filled..]);
        peer.Dispose();
        await running.WaitAsync(Patience, cancellation);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Completing_a_pipe_with_an_exception_ends_the_connection_and_fails_nothing_else(bool output)
    {
        CancellationToken cancellation = TestContext.Current.CancellationToken;
        (Socket peer, PipeConnection connection) = await OpenAsync();
        using Socket _ = peer;
        Task running = connection.RunAsync();
        if (output)
        {
            await connection.Output.CompleteAsync(new FormatException("the application gave up"));
        }
        else
        {
            await connection.Input.CompleteAsync(new FormatException("the application gave up"));
            await peer.SendAsync((byte[])[1, 2, 3], cancellation);
            await connection.Output.CompleteAsync();
        }

        peer.Shutdown(SocketShutdown.Send);
        await running.WaitAsync(Patience, cancellation);
    }

    [Fact]
    public async Task Bytes_pass_both_ways_and_every_buffer_comes_back()
    {
        CancellationToken cancellation = TestContext.Current.CancellationToken;
        BufferPool pool = TestPools.Create();
        (Socket peer, PipeConnection connection) = await OpenAsync(pool);
        using Socket _ = peer;
        Task running = connection.RunAsync();
        byte[] bytes = Pattern(300_000, 4);
        Task<int> sending = peer.SendAsync(bytes, cancellation).AsTask();
        var echoed = 0;
        while (echoed < bytes.Length)
        {
            ReadResult read = await connection.Input.ReadAsync(cancellation).AsTask().WaitAsync(Patience, cancellation);
            foreach (ReadOnlyMemory<byte> segment in read.Buffer)
            {
                await connection.Output.WriteAsync(segment, cancellation).AsTask().WaitAsync(Patience, cancellation);
            }

            echoed += (int)read.Buffer.Length;
            connection.Input.AdvanceTo(read.Buffer.End);
        }

        await sending.WaitAsync(Patience, cancellation);
        await connection.Output.CompleteAsync();
        Assert.Equal(bytes, await ReadToEndAsync(peer));
        peer.Dispose();
        await running.WaitAsync(Patience, cancellation);
        await connection.Input.CompleteAsync();
        Assert.Equal((300_000, 300_000), (connection.ReceivedBytes, connection.SentBytes));
        Assert.True(SpinWait.SpinUntil(() => pool.GetStatistics().Live == 0, Patience));
    }

    [Fact]
    public async Task An_abort_ends_a_connection_whose_peer_takes_nothing()
    {
        CancellationToken cancellation = TestContext.Current.CancellationToken;
        (Socket peer, PipeConnection connection) = await OpenAsync();
        using Socket _ = peer;
        Task running = connection.RunAsync();
        Task<FlushResult> flushing = connection.Output.WriteAsync(new byte[20_000_000], cancellation).AsTask();
        connection.RequestClose(DisconnectReason.Local, CloseMode.Orderly);
        connection.RequestClose(DisconnectReason.Local, CloseMode.Abort);
        await running.WaitAsync(Patience, cancellation);
        await Task.WhenAny(flushing).WaitAsync(Patience, cancellation);
        await Assert.ThrowsAnyAsync<Exception>(async () => await connection.Input.ReadAsync(cancellation));
    }

    private static async Task<(Socket Peer, PipeConnection Connection)> OpenAsync(BufferPool? pool = null)
    {
        (Socket peer, Socket ours) = await ConnectedPairAsync();
        return (peer, new PipeConnection(
            new SocketWire(ours, Tcp), pool ?? BufferPool.Shared, TimeProvider.System, Settings, PipeScheduler.Inline));
    }

    private static async Task<byte[]> ReadToEndAsync(Socket socket)
    {
        using var all = new MemoryStream();
        byte[] buffer = new byte[100_000];
        int read;
        while ((read = await socket.ReceiveAsync(buffer, SocketFlags.None, TestContext.Current.CancellationToken).AsTask()
            .WaitAsync(Patience)) > 0)
        {
            all.Write(buffer, 0, read);
        }

        return all.ToArray();
    }
}
