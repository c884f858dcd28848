using System.Buffers.Binary;
using System.Net.NetworkInformation;
using System.Net.Sockets;
using System.Net;
using System.Runtime.CompilerServices;
using System.Security.Cryptography;
using System.Text;

namespace Net.Zlink.Services;

/// <summary>The endpoint that a receiver or a SPOT node registers, where other machines reach it. It is checked where it is
/// set, since a registry lists any text and gateways try it for ever.</summary>
internal static class AdvertisedEndpoint
{
    private const string Example = "\"10.0.0.5\", \"2001:db8::5\" or \"pod-1.quotes\"";

    /// <summary>The option AdvertiseHost: a name or an address, without a port; null is left to the machine.</summary>
    /// <exception cref="ArgumentException">It is something else. The text says what to write.</exception>
    public static void CheckHost(string? host, [CallerArgumentExpression(nameof(host))] string option = "")
    {
        if (host is not null && !(EndpointOf(host) is { CanConnect: true, IsWildcardHost: false } endpoint
            && string.Equals(endpoint.Host, host.Trim('[', ']'), StringComparison.Ordinal)))
        {
            throw new ArgumentException($"AdvertiseHost is \"{new RedactedEndpoint(host)}\": {WhyNoHost(host)}", option);
        }
    }

    /// <summary>The given text; else what was bound, where the host or this machine's address replaces a wildcard.</summary>
    /// <exception cref="InvalidOperationException">Nothing was given and nothing is bound.</exception>
    /// <exception cref="ArgumentException">The text is no endpoint that others can connect to, or too long.</exception>
    public static string Resolve(string? given, string bound, string? host)
    {
        return given is not null || bound.Length > 0
            ? ServiceText.Checked(given is null ? WithoutWildcard(bound, host) : Checked(given), nameof(given)).ToString()
            : throw new InvalidOperationException("There is no endpoint to advertise: bind the receiver first, or pass one.");
    }

    private static ZlinkEndpoint? EndpointOf(string host) =>
        ZlinkEndpoint.TryParse($"tcp://{host}:1", out ZlinkEndpoint? endpoint) ? endpoint : null;

    private static string WhyNoHost(string host)
    {
        if (host.Length == 0)
        {
            return $"write the name or the address by which others reach this machine, such as {Example}, or null to have one found.";
        }

        if (EndpointOf(host) is { IsWildcardHost: true } || host is "*")
        {
            return $"no peer can connect to that; write one address of this machine, such as {Example}, or null to have one found.";
        }

        string alone = host[(host.IndexOf("://", StringComparison.Ordinal) is var scheme and >= 0 ? scheme + 3 : 0)..].Split('/')[0];
        int colon = alone.LastIndexOf(':');
        alone = colon >= 0 && EndpointOf(alone) is null ? alone[..colon] : alone;
        return alone.Length > 0 && alone.Length < host.Length && EndpointOf(alone) is { IsWildcardHost: false }
            ? $"write the host alone, \"{alone}\"; transport and port are those of the bound endpoint."
            : $"that is neither a name nor an address; write one, such as {Example}.";
    }

    /// <summary>An endpoint of this library, or one of http for clients that find it in a directory.</summary>
    private static string Checked(string given)
    {
        ArgumentException.ThrowIfNullOrEmpty(given);
        if (Uri.TryCreate(given, UriKind.Absolute, out Uri? uri) && uri.Scheme is "http" or "https" && uri.Host.Length > 0)
        {
            return given;
        }

        try
        {
            var endpoint = ZlinkEndpoint.Parse(given);
            return endpoint is { IsWildcardHost: false, CanConnect: true } ? WithHost(endpoint, endpoint.Host)
                : throw new ArgumentException(
                    $"{endpoint} cannot be advertised: no peer can connect to it. Write a host and the port that Bind returned, or null "
                    + "for the bound endpoint with AdvertiseHost.", nameof(given));
        }
        catch (FormatException e)
        {
            throw new ArgumentException($"The endpoint cannot be advertised: {e.Message}", nameof(given), e);
        }
    }

    private static string WithoutWildcard(string bound, string? host) =>
        ZlinkEndpoint.TryParse(bound, out ZlinkEndpoint? endpoint) && endpoint.IsWildcardHost ? WithHost(endpoint, host ?? MachineAddress())
            : bound;

    /// <summary>With brackets around an IPv6 address: without them the last group could be the port.</summary>
    private static string WithHost(ZlinkEndpoint endpoint, string host)
    {
        string query = endpoint.Query.Length == 0 ? "" : $"?{endpoint.Query}";
        string shown = host.Contains(':', StringComparison.Ordinal) && host[0] != '[' ? $"[{host}]" : host;
        return endpoint.Port is null ? endpoint.Text
            : $"{endpoint.Scheme}://{shown}:{endpoint.Port}{(endpoint.Scheme is "ws" or "wss" ? endpoint.Path : "")}{query}";
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
        return address?.ToString() ?? "127.0.0.1";
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
