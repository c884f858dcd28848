namespace Net.Zlink.Tests.Support;

/// <summary>What tests make of a context again and again.</summary>
internal static class ContextTestExtensions
{
    /// <summary>Two of a kind over tcp: the one that connects, and the one that is bound.</summary>
    public static (DealerSocket Sender, DealerSocket Receiver) CreateConnectedDealers(this ZlinkContext context)
    {
        DealerSocket receiver = context.CreateDealer();
        DealerSocket sender = context.CreateDealer();
        sender.Connect(receiver.Bind("tcp://127.0.0.1:0"));
        return (sender, receiver);
    }
}
