using System.Net;
using System.Numerics;

namespace Net.Zlink.Services;

/// <summary>Who sends requests by one connection: its routing id, and the place that it comes from.</summary>
/// <param name="id">A copy of the connection's.</param>
/// <param name="address">The remote IP address without the port; for ipc and inproc their name.</param>
/// <param name="certificate">The subject of the client certificate, with mutual TLS.</param>
internal sealed class RegistrySender(RoutingId id, string address, string? certificate = null)
{
    private const string Inproc = "inproc";
    private const string Ipc = "ipc";

    private long _refusals;

    public RoutingId Id => id;

    public string Address => address;

    public string? Certificate => certificate;

    /// <summary>The last entry whose HEARTBEAT was refused: repeats are refused without asking for admission.</summary>
    public EntryKey? RefusedHeartbeat { get; set; }

    public static RegistrySender Of(in Message message) =>
        new(message.RoutingId.Copy(), AddressOf(message.RemoteAddress), message.RemoteCertificate?.Subject);

    /// <summary>What a remote address such as tcp://192.0.2.1:40000 says without its port.</summary>
    public static string AddressOf(string remoteAddress)
    {
        if (remoteAddress.Length == 0)
        {
            return Inproc;
        }

        if (!ZlinkEndpoint.TryParse(remoteAddress, out ZlinkEndpoint? endpoint) || endpoint.Scheme is Ipc)
        {
            return Ipc; // The address of a client's end of an ipc connection has no name.
        }

        return IPAddress.TryParse(endpoint.Host, out IPAddress? ip)
            ? (ip.IsIPv4MappedToIPv6 ? ip.MapToIPv4() : ip).ToString()
            : endpoint.Host;
    }

    /// <summary>Whether another sender's entries may be this one's after a restart: the certificate is the same, or the address.</summary>
    public bool IsAtPlaceOf(RegistrySender owner) => owner.Certificate is { } subject
        ? string.Equals(subject, Certificate, StringComparison.Ordinal)
        : string.Equals(owner.Address, Address, StringComparison.Ordinal);

    /// <summary>Whether it may change what that one registered.</summary>
    public bool Is(RegistrySender owner) => IsAtPlaceOf(owner) && (owner.Certificate is not null || owner.Id == Id);

    /// <summary>Counts a refusal.</summary>
    /// <returns>Whether it is to be reported: the first, second, fourth and so on, since one client may send any number.</returns>
    public bool ReportsRefusal() => BitOperations.IsPow2(++_refusals);

    public override string ToString() => Certificate is null ? $"{Id} at {Address}" : $"{Id} at {Address}, {Certificate}";
}
