using Net.Zlink.Interop.Tests.Native;
using Net.Zlink.Interop.Tests.Peers;
using Net.Zlink.Interop.Tests.Support;
using Xunit;

namespace Net.Zlink.Interop.Tests.Matrix;

/// <summary>Every pair of types, whoever binds, over every transport.</summary>
public sealed class ExchangeTests
{
    [NativeTheory]
    [MemberData(nameof(LinkCase.Rows), MemberType = typeof(LinkCase))]
    public void Messages_of_every_shape_arrive_as_they_were_sent(
        PeerKind ours, NativeSocketType ourType, NativeSocketType theirType, bool weBind, TestTransport transport)
    {
        using PeerLink link = PeerLink.Open(new LinkCase(ours, ourType, theirType, weBind, transport));
        Exchange.OfEveryShape(link);
    }

    [NativeTheory]
    [MemberData(nameof(LinkCase.Rows), MemberType = typeof(LinkCase))]
    public async Task Tens_of_thousands_of_messages_each_way_at_once_arrive_whole_and_in_order(
        PeerKind ours, NativeSocketType ourType, NativeSocketType theirType, bool weBind, TestTransport transport)
    {
        using PeerLink link = PeerLink.Open(new LinkCase(ours, ourType, theirType, weBind, transport));
        await Exchange.OfManyAsync(link);
    }
}
