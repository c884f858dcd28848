using Net.Zlink.Engine;

namespace Net.Zlink.Sockets.Links;

internal sealed class ReceiveDispatch(Action serve) : ShardWork
{
    internal override void Run(int reasons) => serve();

    internal override void OnFault(Exception exception)
    {
        // An exception of a continuation belongs to the awaiting code. The shard continues.
    }

    internal override string Describe() => "a receive that continues at once";
}
