using System.Net;
using System.Net.NetworkInformation;
using System.Net.Sockets;
using Net.Zlink.Benchmarks.Common;

namespace Net.Zlink.Scenarios.Wire;

/// <summary>Where a server is: transport://host:port, as the library writes it; ws and wss with a path behind it.</summary>
internal sealed record Address(string Transport, string Host, int Port, string Path)
{
    public static readonly IReadOnlyList<string> Transports = ["tcp", "tls", "ws", "wss"];

    /// <summary>Whether the frames are all there is on the connection.</summary>
    public bool IsPlain => !IsTls && !IsWebSocket;

    public bool IsTls => Transport is "tls" or "wss";

    public bool IsWebSocket => Transport is "ws" or "wss";

    public static Address Parse(string text)
    {
        if (!Uri.TryCreate(text, UriKind.Absolute, out Uri? uri) || !Transports.Contains(uri.Scheme, StringComparer.Ordinal)
            || uri.Host.Length == 0 || uri.Port < 0)
        {
            throw new RequestException(
                $"'{text}' is no address of this program; write tcp://127.0.0.1:5555, or tls://, ws://, wss:// likewise.");
        }

        return new Address(uri.Scheme, uri.DnsSafeHost, uri.Port, uri.AbsolutePath);
    }

    /// <summary>The first address of the host.</summary>
    /// <exception cref="RequestException">It has none.</exception>
    public async Task<IPEndPoint> ResolveAsync(CancellationToken cancellation)
    {
        if (IPAddress.TryParse(Host, out IPAddress? numeric))
        {
            return new IPEndPoint(numeric, Port);
        }

        try
        {
            IPAddress[] found = await Dns.GetHostAddressesAsync(Host, cancellation);
            return found.Length > 0 ? new IPEndPoint(found[0], Port) : throw new RequestException($"The host {Host} has no address.");
        }
        catch (SocketException e)
        {
            throw new RequestException($"The host {Host} has no address: {e.Message}.", e);
        }
    }

    /// <summary>Whether it is one of the addresses of this machine.</summary>
    /// <exception cref="RequestException">The host has no address.</exception>
    public async Task<bool> IsOfThisMachineAsync(CancellationToken cancellation)
    {
        IPAddress host = (await ResolveAsync(cancellation)).Address;
        return IPAddress.IsLoopback(host) || NetworkInterface.GetAllNetworkInterfaces()
            .Any(one => one.GetIPProperties().UnicastAddresses.Any(own => own.Address.Equals(host)));
    }

    public Address WithPort(int port) => this with { Port = port };

    public override string ToString()
    {
        string host = Host.Contains(':', StringComparison.Ordinal) ? $"[{Host}]" : Host;
        return $"{Transport}://{host}:{Port}{(IsWebSocket ? Path : "")}";
    }
}
