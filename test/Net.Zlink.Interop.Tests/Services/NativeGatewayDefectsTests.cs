using System.Text;
using Net.Zlink.Interop.Tests.Peers;
using Net.Zlink.Interop.Tests.Support;
using Xunit;

namespace Net.Zlink.Interop.Tests.Services;

/// <summary>What a native gateway does that ours does not: the controls of two rows of docs/native-differences.md.</summary>
public sealed class NativeGatewayDefectsTests
{
    private const string Service = "svc";
    private const string Id = "the gateway";

    [NativeFact]
    public void The_id_given_to_a_native_gateway_does_not_reach_a_receiver()
    {
        using var scene = new ServiceScene();
        (IReceiverRole receiver, _) = Connect(scene);
        Assert.False(receiver.Receive(Limits.Wait)![0].AsSpan().SequenceEqual(Encoding.UTF8.GetBytes(Id)));
    }

    [NativeFact]
    public void The_receive_call_of_a_native_gateway_answers_minus_one_for_a_message_and_takes_it()
    {
        using var scene = new ServiceScene();
        (IReceiverRole receiver, NativeGatewayRole gateway) = Connect(scene);
        receiver.Send(receiver.Receive(Limits.Wait)![0], "answer"u8.ToArray());

        // Until it has come -1 says the same. Then what is left of it, its last part, is read as one.
        Limits.Until("the call has taken the routing id", () => gateway.Gateway.TryReceive() == -1
            && gateway.Gateway.Router.Receive(TimeSpan.Zero) is [{ } left] && left.AsSpan().SequenceEqual("answer"u8));
    }

    /// <summary>A message of the gateway is on its way.</summary>
    private static (IReceiverRole Receiver, NativeGatewayRole Gateway) Connect(ServiceScene scene)
    {
        IRegistryRole registry = scene.AddRegistry(PeerKind.Managed);
        IReceiverRole receiver = scene.AddReceiver(PeerKind.Managed, "receiver", registry);
        receiver.Register(Service);
        NativeGatewayRole gateway = scene.Own(new NativeGatewayRole([registry.Publisher], certificates: null, Id));
        gateway.UntilReady(Service, 1);
        Assert.True(gateway.Send(Service, ["question"u8.ToArray()]));
        return (receiver, gateway);
    }
}
