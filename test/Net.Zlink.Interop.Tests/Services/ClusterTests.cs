using Net.Zlink.Interop.Tests.Native;
using Net.Zlink.Interop.Tests.Peers;
using Net.Zlink.Interop.Tests.Support;
using Xunit;

namespace Net.Zlink.Interop.Tests.Services;

/// <summary>Registries of both kinds in a full mesh show the same entries, each to discoveries of both kinds.</summary>
public sealed class ClusterTests
{
    private const string Service = "svc";
    private const PeerKind N = PeerKind.Native;
    private const PeerKind M = PeerKind.Managed;

    /// <summary>Two native registries send removed entries back and forth, so that some never go.</summary>
    public static TheoryData<PeerKind[]> MeshesWithSeveralNative() =>
        [.. new PeerKind[][] { [N, N], [N, N, M], [M, N, N], [N, M, N], [N, N, N] }];

    /// <summary>One native registry at most.</summary>
    public static TheoryData<PeerKind[]> Meshes() =>
        [.. new PeerKind[][] { [N, M], [M, N], [M, M], [N, M, M], [M, N, M], [M, M, N], [M, M, M] }];

    [NativeTheory]
    [MemberData(nameof(Meshes))]
    public void What_is_registered_at_one_is_seen_at_all_until_it_is_removed(PeerKind[] kinds)
    {
        using var scene = new ServiceScene();
        IRegistryRole[] registries = AddMesh(scene, kinds);
        IGatewayRole[] viewers = [.. registries.SelectMany(registry => Enum.GetValues<PeerKind>()
            .Select(kind => scene.AddGateway(kind, registry)))];
        for (int i = 0; i < registries.Length; i++)
        {
            IReceiverRole ours = scene.AddReceiver(M, $"ours {i}", registries[i]);
            IReceiverRole native = scene.AddReceiver(N, $"native {i}", registries[i]);
            ours.Register(Service, weight: 2);
            native.Register(Service);
            UntilAllList(viewers, ours.Listed(2), native.Listed());
            native.Unregister(Service);
            UntilAllList(viewers, ours.Listed(2));
            ours.Unregister(Service);
            UntilAllList(viewers);
        }
    }

    [NativeTheory]
    [MemberData(nameof(MeshesWithSeveralNative))]
    public void What_is_registered_and_changed_at_one_of_several_native_registries_is_seen_at_all(PeerKind[] kinds)
    {
        using var scene = new ServiceScene();
        IRegistryRole[] registries = AddMesh(scene, kinds);
        IGatewayRole[] viewers = [.. registries.SelectMany(registry => Enum.GetValues<PeerKind>()
            .Select(kind => scene.AddGateway(kind, registry)))];
        var listed = new List<NativeReceiverInfo>();
        for (int i = 0; i < registries.Length; i++)
        {
            IReceiverRole ours = scene.AddReceiver(M, $"ours {i}", registries[i]);
            IReceiverRole native = scene.AddReceiver(N, $"native {i}", registries[i]);
            ours.Register(Service, weight: 2);
            native.Register(Service);
            UntilAllList(viewers, [.. listed, ours.Listed(2), native.Listed()]);
            ours.UpdateWeight(Service, 3);
            listed.AddRange([ours.Listed(3), native.Listed()]);
            UntilAllList(viewers, [.. listed]);
        }
    }

    [NativeTheory]
    [MemberData(nameof(Meshes))]
    [MemberData(nameof(MeshesWithSeveralNative))]
    public void What_is_registered_at_two_stays_seen_when_one_dies_and_returns(PeerKind[] kinds)
    {
        using var scene = new ServiceScene();
        RegistryPlan[] plans = Plans(scene, kinds.Length);
        IRegistryRole[] registries = [.. kinds.Zip(plans).Select(pair => scene.AddRegistry(pair.First, pair.Second))];
        IGatewayRole viewer = scene.AddGateway(M, registries[1..]);
        IReceiverRole receiver = scene.AddReceiver(M, "receiver", registries);
        receiver.Register(Service);
        viewer.UntilListed(Service, receiver.Listed());

        scene.End(registries[0]);
        registries[0] = scene.AddRegistry(kinds[0], plans[0]);

        // Its receiver has registered again, and its peers know it again.
        IGatewayRole viewerOfFirst = scene.AddGateway(M, registries[0]);
        viewerOfFirst.UntilListed(Service, receiver.Listed());
        Assert.True(viewer.Lists(Service, receiver.Listed()));
        receiver.UpdateWeight(Service, 9);
        UntilAllList([viewer, viewerOfFirst], receiver.Listed(9));
    }

    private static void UntilAllList(IGatewayRole[] viewers, params NativeReceiverInfo[] receivers)
    {
        NativeReceiverInfo[] inOrder = [.. receivers.OrderBy(static receiver => receiver.Endpoint, StringComparer.Ordinal)];
        Array.ForEach(viewers, viewer => viewer.UntilListed(Service, inOrder));
    }

    private static IRegistryRole[] AddMesh(ServiceScene scene, PeerKind[] kinds) =>
        [.. kinds.Zip(Plans(scene, kinds.Length)).Select(pair => scene.AddRegistry(pair.First, pair.Second))];

    private static RegistryPlan[] Plans(ServiceScene scene, int count)
    {
        RegistryPlan[] plans = [.. Enumerable.Range(1, count).Select(id => scene.NewRegistryPlan((uint)id))];
        return [.. plans.Select(plan => plan with
        {
            Peers = [.. plans.Where(other => other.Id != plan.Id).Select(static other => other.Publisher)],
        })];
    }
}
