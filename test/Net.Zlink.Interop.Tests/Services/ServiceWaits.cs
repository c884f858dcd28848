using Net.Zlink.Interop.Tests.Native;
using Net.Zlink.Interop.Tests.Support;

namespace Net.Zlink.Interop.Tests.Services;

/// <summary>What tests of services wait for.</summary>
internal static class ServiceWaits
{
    public static NativeReceiverInfo Listed(this IReceiverRole receiver, uint weight = 1) =>
        new(receiver.Endpoint, receiver.RoutingId, weight);

    /// <summary>Waits until exactly these are listed, in this order.</summary>
    public static void UntilListed(this IGatewayRole gateway, string service, params NativeReceiverInfo[] expected) =>
        Limits.Until($"{service} is listed as it was registered", () => gateway.Lists(service, expected));

    public static bool Lists(this IGatewayRole gateway, string service, params NativeReceiverInfo[] expected) =>
        gateway.GetReceivers(service) is { } listed && listed.Count == expected.Length && listed.Zip(expected)
            .All(static pair => pair.First.Weight == pair.Second.Weight
                && string.Equals(pair.First.Endpoint, pair.Second.Endpoint, StringComparison.Ordinal)
                && pair.First.RoutingId.AsSpan().SequenceEqual(pair.Second.RoutingId));

    public static void UntilReady(this IGatewayRole gateway, string service, int receivers) =>
        Limits.Until($"{service} has {receivers} receivers", () => gateway.GetReadyCount(service) == receivers);
}
