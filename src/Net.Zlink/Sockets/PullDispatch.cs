using Net.Zlink.Engine;

namespace Net.Zlink.Sockets;

/// <summary>Serves the waiters of a <see cref="PullQueue"/>, as work of a shard.</summary>
internal sealed class PullDispatch(Action serve) : ShardWork
{
    internal override void Run(int reasons) => serve();

    internal override void OnFault(Exception exception)
    {
        // An exception of a continuation belongs to the awaiting code. The shard continues.
    }

    internal override string Describe() => "a receive that continues at once";
}
