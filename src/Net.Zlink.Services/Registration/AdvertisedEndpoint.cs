using System.Buffers.Binary;
using System.Net.NetworkInformation;
using System.Net.Sockets;
using System.Net;
using System.Security.Cryptography;
using System.Text;

namespace Net.Zlink.Services;

/// <summary>The endpoint that a receiver tells the registries: where other machines reach it.</summary>
internal static class AdvertisedEndpoint
{
    private static readonly string[] TransportsWithHost = ["tcp://", "tls://", "ws://", "wss://"];
    private static readonly string[] WildcardHosts = ["*", "0.0.0.0", "[::]", "::"];

    /// <summary>The given text; else what was bound, where the host or this machine's address replaces a wildcard.</summary>
    /// <exception cref="InvalidOperationException">Nothing was given and nothing is bound.</exception>
    /// <exception cref="ArgumentException">The text is empty or too long.</exception>
    public static string Resolve(string? given, string bound, string? host)
    {
        return given is not null || bound.Length > 0
            ? ServiceText.Checked(given ?? WithoutWildcard(bound, host), nameof(given)).ToString()
            : throw new InvalidOperationException("There is no endpoint to advertise: bind the receiver first, or pass one.");
    }

    private static string WithoutWildcard(string endpoint, string? host)
    {
        int start = endpoint.IndexOf("://", StringComparison.Ordinal) + 3;
        int slash = endpoint.IndexOf('/', start);
        int end = slash < 0 ? endpoint.Length : slash;
        int colon = TransportsWithHost.Contains(endpoint[..start]) ? endpoint.LastIndexOf(':', end - 1, end - start) : -1;
        return colon >= 0 && WildcardHosts.Contains(endpoint[start..colon])
            ? $"{endpoint.AsSpan(0, start)}{host ?? MachineAddress()}{endpoint.AsSpan(colon)}"
            : endpoint;
    }

    /// <summary>The first address of an interface that leads out of the machine, IPv4 before IPv6; else loopback, as in the
    /// native core.</summary>
    private static string MachineAddress()
    {
        IPAddress? address = NetworkInterface.GetAllNetworkInterfaces()
            .Where(static i => i.OperationalStatus == OperationalStatus.Up && i.NetworkInterfaceType != NetworkInterfaceType.Loopback)
            .Select(static i => i.GetIPProperties())
            .Where(static p => p.GatewayAddresses.Count > 0)
            .SelectMany(static p => p.UnicastAddresses)
            .Select(static a => a.Address)
            .Where(static a => !a.IsIPv6LinkLocal)
            .OrderBy(static a => a.AddressFamily == AddressFamily.InterNetwork ? 0 : 1)
            .FirstOrDefault();
        return address is null ? "127.0.0.1" : address.AddressFamily == AddressFamily.InterNetworkV6 ? $"[{address}]" : address.ToString();
    }
}

/// <summary>The routing id of a receiver that was given none: 0 and the FNV-1a hash of its endpoint, in the form of native random ids. It
/// must stay with its endpoint over a restart, and a native gateway aborts on two endpoints with one id.</summary>
internal static class StableRoutingId
{
    private const uint OffsetBasis = 2166136261;
    private const uint Prime = 16777619;

    public static RoutingId Of(string endpoint)
    {
        uint hash = OffsetBasis;
        foreach (byte b in Encoding.UTF8.GetBytes(endpoint))
        {
            hash = (hash ^ b) * Prime;
        }

        byte[] id = new byte[5];
        BinaryPrimitives.WriteUInt32BigEndian(id.AsSpan(1), hash == 0 ? 1 : hash); // 0 is no id in the native core.
        return new RoutingId(id);
    }
}

/// <summary>A random id: zero bytes and 32 bits, which are not all zero since that is no id in the native core.</summary>
internal static class RandomRoutingId
{
    public static RoutingId Make(int zeros)
    {
        byte[] id = new byte[zeros + sizeof(uint)];
        do
        {
            RandomNumberGenerator.Fill(id.AsSpan(zeros));
        }
        while (id.AsSpan(zeros).IndexOfAnyExcept((byte)0) < 0);

        return new RoutingId(id);
    }
}
