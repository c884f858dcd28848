using System.Net;
using System.Net.Sockets;

namespace Net.Zlink.Services;

/// <summary>Refuses endpoints of a directory that its followers are not to connect to: who may register there must not choose how this
/// program dials.</summary>
/// <param name="options">What the application allows.</param>
/// <param name="tls">Of the socket that connects.</param>
internal sealed class DirectoryEndpointFilter(DirectoryEndpointOptions options, TlsOptions tls)
{
    /// <summary>Why an endpoint is not connected, as text; null: it may be. A text that is no endpoint is for the socket to
    /// refuse.</summary>
    public string? WhyRefused(string endpoint, DirectoryTrust trust)
    {
        if (trust == DirectoryTrust.Application || !ZlinkEndpoint.TryParse(endpoint, out ZlinkEndpoint? parts))
        {
            return null;
        }

        if (!IsAllowed(parts.Scheme, trust))
        {
            return $"DirectoryEndpointOptions.Transports does not allow {parts.Scheme}";
        }

        if (!options.AllowLinkLocal && IPAddress.TryParse(parts.Host, out IPAddress? address) && IsLinkLocal(address))
        {
            return "a link-local or multicast address needs DirectoryEndpointOptions.AllowLinkLocal";
        }

        try
        {
            return options.Admission is { } admission && !admission(parts) ? "DirectoryEndpointOptions.Admission refused it" : null;
        }
        catch (Exception e)
        {
            return $"DirectoryEndpointOptions.Admission failed: {e.Message}"; // The application's code must not end who follows the list.
        }
    }

    /// <summary>It leads to this machine only.</summary>
    public static bool IsLocal(string endpoint) => ZlinkEndpoint.TryParse(endpoint, out ZlinkEndpoint? parts)
        && (parts.Scheme is "ipc" or "inproc" || string.Equals(parts.Host, "localhost", StringComparison.OrdinalIgnoreCase)
            || (IPAddress.TryParse(parts.Host, out IPAddress? address) && IPAddress.IsLoopback(address)));

    private bool IsAllowed(string scheme, DirectoryTrust trust) => options.Transports.Count > 0
        ? options.Transports.Contains(scheme)
        : scheme switch
        {
            "tcp" or "ws" or "inproc" => true,
            "tls" or "wss" => tls.CaFile.Length > 0 || tls.CertificateFile.Length > 0 || tls.HostName.Length > 0
                || tls.Validation is not null || !tls.VerifyPeer,
            "ipc" => trust == DirectoryTrust.SameMachine,
            _ => false,
        };

    private static bool IsLinkLocal(IPAddress address)
    {
        address = address.IsIPv4MappedToIPv6 ? address.MapToIPv4() : address;
        if (address.AddressFamily == AddressFamily.InterNetworkV6)
        {
            return address.IsIPv6LinkLocal || address.IsIPv6Multicast;
        }

        byte[] bytes = address.GetAddressBytes();
        return bytes is [169, 254, ..] || bytes[0] is >= 224 and < 240 || address.Equals(IPAddress.Broadcast);
    }
}
