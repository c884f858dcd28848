using System.Net.Sockets;

namespace Net.Zlink.Engine;

/// <summary>A socket operation that reports its completion as a reason for a work to run.</summary>
/// <remarks>Made without execution-context capture: nobody's async locals belong on a shard, and capturing costs on every operation.</remarks>
internal sealed class SocketSignal(ShardLoop shard, ShardWork work, int reason) : SocketAsyncEventArgs(unsafeSuppressExecutionContextFlow: true)
{
    protected override void OnCompleted(SocketAsyncEventArgs e) => shard.RunOrPost(work, reason);
}
