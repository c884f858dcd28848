using System.Text;
using Net.Zlink.Interop.Tests.Native;
using Net.Zlink.Interop.Tests.Peers;
using Net.Zlink.Interop.Tests.Support;
using Xunit;

namespace Net.Zlink.Interop.Tests.Services;

/// <summary>Registry, receivers and gateway, each native or ours, do together what they do among themselves.</summary>
public sealed class GridTests
{
    private const string Service = "svc";
    private const string Other = "other";

    // Of so many bytes and parts, so many messages each: short ones many, long ones few.
    private static readonly (int Size, int Parts, int Count)[] s_floods =
        [(0, 1, 200), (1, 3, 200), (64, 1, 2000), (64, 3, 1000), (8192, 1, 200), (8192, 3, 100), (1_048_576, 1, 4), (1_048_576, 3, 2)];

    public static IEnumerable<TheoryDataRow<PeerKind, PeerKind, PeerKind, TestTransport>> Cells() =>
        from registry in Enum.GetValues<PeerKind>()
        from receiver in Enum.GetValues<PeerKind>()
        from gateway in Enum.GetValues<PeerKind>()
        from transport in TestTransports.All
        select new TheoryDataRow<PeerKind, PeerKind, PeerKind, TestTransport>(registry, receiver, gateway, transport);

    [NativeTheory]
    [MemberData(nameof(Cells))]
    public void Receivers_are_listed_reached_answered_changed_and_removed(
        PeerKind registryKind, PeerKind receiverKind, PeerKind gatewayKind, TestTransport transport)
    {
        using var scene = new ServiceScene(transport);
        IRegistryRole registry = scene.AddRegistry(registryKind);
        IGatewayRole gateway = scene.AddGateway(gatewayKind, registry);
        IReceiverRole a = scene.AddReceiver(receiverKind, "receiver a", registry);
        IReceiverRole b = scene.AddReceiver(receiverKind, "receiver b", registry);
        a.Register(Service, weight: 3);
        b.Register(Service);

        NativeReceiverInfo[] expected = [.. new[] { a.Listed(3), b.Listed() }
            .OrderBy(static receiver => receiver.Endpoint, StringComparer.Ordinal)];
        gateway.UntilListed(Service, expected);
        gateway.UntilReady(Service, 2);

        foreach (IReceiverRole receiver in new[] { a, b })
        {
            Limits.Until("the receiver is reached by its id", () => gateway.SendTo(Service, receiver.RoutingId, [receiver.RoutingId]));
            byte[][] request = Assert.IsType<byte[][]>(receiver.Receive(Limits.Wait));
            Assert.Equal(receiver.RoutingId, Assert.Single(request[1..]));
            receiver.Send(request[0], "answer"u8.ToArray(), [], receiver.RoutingId);
            TestPayload.AssertEqual(["answer"u8.ToArray(), [], receiver.RoutingId], gateway.Receive(Limits.Wait)!, "answer");
        }

        IReceiverRole[] inOrder = [.. new[] { a, b }.OrderBy(static receiver => receiver.Endpoint, StringComparer.Ordinal)];
        foreach ((int size, int parts, int count) in s_floods)
        {
            SendInTurn(gateway, inOrder, size, parts, count);
        }

        a.UpdateWeight(Service, 7);
        gateway.UntilListed(Service, [.. expected.Select(receiver => receiver.Weight == 3 ? receiver with { Weight = 7 } : receiver)]);

        b.Register(Other, weight: 2);
        gateway.UntilListed(Other, b.Listed(2));
        gateway.UntilReady(Other, 1);
        Assert.True(gateway.Send(Other, ["second service"u8.ToArray()]));
        Assert.Equal("second service", Encoding.UTF8.GetString(Assert.IsType<byte[][]>(b.Receive(Limits.Wait))[1]));

        a.Unregister(Service);
        gateway.UntilListed(Service, b.Listed());
        gateway.UntilReady(Service, 1);
        Assert.True(gateway.Send(Service, ["the other one"u8.ToArray()]));
        Assert.Equal("the other one", Encoding.UTF8.GetString(Assert.IsType<byte[][]>(b.Receive(Limits.Wait))[1]));
    }

    /// <summary>Each receiver gets every other message, in order and as it was sent.</summary>
    private static void SendInTurn(IGatewayRole gateway, IReceiverRole[] receivers, int size, int parts, int count)
    {
        for (int i = 0; i < count; i++)
        {
            Assert.True(gateway.Send(Service, TestPayload.MakeMessage(i, parts, size)));
        }

        // Which one is first depends on what was sent before.
        var got = new List<byte[][]>[receivers.Length];
        for (int r = 0; r < receivers.Length; r++)
        {
            got[r] = [.. Enumerable.Range(0, count / receivers.Length).Select(_ => receivers[r].Receive(Limits.Wait)![1..])];
        }

        bool isSwapped = size >= sizeof(long) && TestPayload.NumberOf(got[0][0][0]) != 0;
        for (int i = 0; i < count; i++)
        {
            byte[][] actual = got[(i % 2 == 0) == isSwapped ? 1 : 0][i / 2];
            TestPayload.AssertEqual(TestPayload.MakeMessage(i, parts, size), actual, $"message {i} of {size} bytes, {parts} parts");
        }
    }
}
