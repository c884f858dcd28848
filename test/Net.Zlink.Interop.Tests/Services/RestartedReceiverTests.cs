using Net.Zlink.Interop.Tests.Peers;
using Net.Zlink.Interop.Tests.Support;
using Net.Zlink.Services;
using Xunit;

namespace Net.Zlink.Interop.Tests.Services;

/// <summary>A native gateway over receivers of ours that end and return.</summary>
public sealed class RestartedReceiverTests
{
    private const string Service = "svc";

    /// <summary>A native gateway keeps a connection's name for good, so a receiver on the same port needs its old id: ours makes it of the
    /// endpoint.</summary>
    [NativeFact]
    public void A_native_gateway_reaches_our_receiver_that_was_started_again_on_its_port()
    {
        using var scene = new ServiceScene();
        IRegistryRole registry = scene.AddRegistry(PeerKind.Managed);
        IGatewayRole gateway = scene.AddGateway(PeerKind.Native, registry);
        string endpoint = scene.NewEndpoint();
        for (int start = 0; start < 3; start++)
        {
            IReceiverRole receiver = scene.AddReceiverAt(PeerKind.Managed, endpoint, routingId: null, registry);
            receiver.Register(Service);
            Limits.Until("the receiver is listed", () => gateway.GetReceivers(Service).Count == 1);
            byte[] text = [(byte)start];

            // Natively what is sent before the connection is back goes to nobody.
            Limits.Until("a message arrives", () => gateway.Send(Service, [text])
                && receiver.Receive(Limits.Nothing) is { } message && message[1].AsSpan().SequenceEqual(text));
            scene.End(receiver);
            gateway.UntilListed(Service);
        }
    }

    [NativeFact]
    public void A_native_gateway_sends_to_the_others_once_one_of_ours_drains()
    {
        using var scene = new ServiceScene();
        IRegistryRole registry = scene.AddRegistry(PeerKind.Managed);
        IGatewayRole gateway = scene.AddGateway(PeerKind.Native, registry);
        IReceiverRole draining = scene.AddReceiver(PeerKind.Managed, "draining", registry);
        IReceiverRole staying = scene.AddReceiver(PeerKind.Managed, "staying", registry);
        draining.Register(Service);
        staying.Register(Service);
        gateway.UntilReady(Service, 2);

        Task<DrainReport> end = ((ManagedReceiverRole)draining).Receiver.DrainAsync(cancellationToken: Limits.Token);
        gateway.UntilListed(Service, staying.Listed());
        gateway.UntilReady(Service, 1);
        for (byte i = 0; i < 20; i++)
        {
            Assert.True(gateway.Send(Service, [[i]]));
            Assert.Equal([i], Assert.IsType<byte[][]>(staying.Receive(Limits.Wait))[1]);
        }

        Assert.True(end.Guarded().GetAwaiter().GetResult().IsIdle);
    }
}
