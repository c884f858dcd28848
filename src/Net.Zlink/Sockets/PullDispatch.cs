using Net.Zlink.Engine;

namespace Net.Zlink.Sockets;

/// <summary>Serves those who wait at a <see cref="PullQueue"/>, as a work of a shard.</summary>
internal sealed class PullDispatch(Action serve) : ShardWork
{
    internal override void Run(int reasons) => serve();

    internal override void OnFault(Exception exception)
    {
        // A continuation that throws: what awaited has its exception, the shard goes on.
    }

    internal override string Describe() => "a receive that goes on in place";
}
