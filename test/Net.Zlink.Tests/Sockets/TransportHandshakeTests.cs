using System.Net.Sockets;
using Net.Zlink.Buffers;
using Net.Zlink.Monitoring;
using Net.Zlink.Sockets.Endpoints;
using Net.Zlink.Tests.Support;
using Net.Zlink.Transports;
using Xunit;
using static Net.Zlink.Tests.Engine.EngineFixture;

namespace Net.Zlink.Tests.Sockets;

public sealed class TransportHandshakeTests
{
    /// <summary>With a peer as fast as one on the same machine nothing in a handshake waits, and a callback that takes long would hold
    /// whoever called.</summary>
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task A_handshake_that_never_waits_still_runs_on_the_pool(bool accepts)
    {
        await using var context = new ZlinkContext();
        (Socket peer, Socket ours) = await ConnectedPairAsync();
        using (peer)
        {
            peer.Send([1]); // The side that accepts waits for what the other one says.
            Assert.True(TransportTable.TryParseWire("tls://127.0.0.1:1", EndpointUse.Connect, out WireEndpoint target, out _));
            var raw = new SocketWire(ours, target.Transport);
            var upgrade = new AtOnce();
            var started = new TaskCompletionSource<Task<UpgradeResult>>(TaskCreationOptions.RunContinuationsAsynchronously);
            var caller = new Thread(() => started.SetResult(accepts
                ? TransportHandshake.AcceptAsync(upgrade, raw, target.Text, context.Host, new SocketMonitors(), Guard.Token)
                : TransportHandshake.ConnectAsync(upgrade, raw, target, context.Host, new SocketMonitors(), Guard.Token)));
            caller.Start();
            await (await started.Task.Guarded()).Guarded();
            caller.Join();
            Assert.True(upgrade.RanOnPool);
        }
    }

    /// <summary>A handshake that fails where it is called.</summary>
    private sealed class AtOnce : WireUpgrade
    {
        public override string FirstPhase => "the test";

        public bool RanOnPool { get; private set; }

        protected override TimeSpan Limit => Guard.Limit;

        public override Task<UpgradeResult> RunAsync(
            SocketWire raw, BufferPool pool, TimeProvider time, PeerWait? waits, CancellationToken cancellation)
        {
            RanOnPool = Thread.CurrentThread.IsThreadPoolThread;
            raw.Dispose();
            return Task.FromResult(UpgradeResult.Cancelled);
        }
    }
}
