using System.Net;
using System.Net.Sockets;

namespace Net.Zlink.Transports.Tcp;

/// <summary>Nothing is cached, because a name may change between two attempts.</summary>
internal static class TcpResolver
{
    /// <summary>
    /// The address to listen at: with <paramref name="ipv6"/> always an IPv6 one (IPv4 as a mapped address) for a dual-stack socket,
    /// otherwise always IPv4.
    /// </summary>
    public static IPEndPoint? ResolveBind(TcpAddress address, bool ipv6, NameSource names, out EndpointError error)
    {
        (IPAddress? chosen, error) = address.Host.IsAny ? (ipv6 ? IPAddress.IPv6Any : IPAddress.Any, EndpointError.None)
            : address.Host.Address is not null ? Scope(address.Host)
            : OwnAddress(names, address.Host.Text, ipv6);
        if (!ipv6 && chosen is { AddressFamily: AddressFamily.InterNetworkV6 })
        {
            (chosen, error) = (null, NeedsIPv6(address.Host));
        }

        return chosen is null ? null : new IPEndPoint(ipv6 ? chosen.MapToIPv6() : chosen, address.Port);
    }

    /// <summary>The task fails only by cancellation.</summary>
    public static async Task<(IPAddress[] Addresses, EndpointError Error)> ResolveDestinationAsync(
        TcpHost host, bool ipv6, NameSource names, CancellationToken cancellation)
    {
        if (host.Address is not null)
        {
            (IPAddress? literal, EndpointError error) = Scope(host);
            literal = literal is null ? null : Unmap(literal);
            return literal is null ? ([], error)
                : ipv6 || literal.AddressFamily == AddressFamily.InterNetwork ? ([literal], EndpointError.None) : ([], NeedsIPv6(host));
        }

        try
        {
            var found = await names.LookupAsync(host.Text, FamilyFor(ipv6), cancellation).ConfigureAwait(false);
            IPAddress[] usable = [.. found.Select(Unmap).Where(a => ipv6 || a.AddressFamily == AddressFamily.InterNetwork)];
            return usable.Length > 0 ? (usable, EndpointError.None) : (usable, NoAddress(host.Text, ipv6));
        }
        catch (Exception e) when (e is SocketException or ArgumentException)
        {
            return ([], NoSuchHost(host.Text, e));
        }
    }

    /// <summary>Reads the interfaces, never the network.</summary>
    public static IPEndPoint? ResolveSource(
        TcpHost host, int port, AddressFamily family, NameSource names, out EndpointError error)
    {
        bool ipv6 = family == AddressFamily.InterNetworkV6;
        IPAddress? chosen;
        if (host.Address is not null)
        {
            (chosen, error) = Scope(host);
            if (chosen is not null && Unmap(chosen).AddressFamily != family)
            {
                (chosen, error) = (null, new EndpointError(
                    ZlinkError.NoDevice,
                    $"the source {EndpointError.Quote(host.Text)} and the destination differ in family; use IPv4 or IPv6 for both"));
            }
        }
        else
        {
            IReadOnlyList<IPAddress>? own = names.InterfaceAddresses(host.Text);
            chosen = own is null ? null : Choose(own.Where(a => a.AddressFamily == family), ipv6);
            error = own is not null ? NoAddress(host.Text, ipv6)
                : new EndpointError(
                    ZlinkError.NoDevice,
                    $"the source {EndpointError.Quote(host.Text)} is neither an address nor a network interface; use one of those");
        }

        return chosen is null ? null : new IPEndPoint(Unmap(chosen), port);
    }

    private static AddressFamily FamilyFor(bool ipv6) => ipv6 ? AddressFamily.Unspecified : AddressFamily.InterNetwork;

    private static IPAddress Unmap(IPAddress address) => address.IsIPv4MappedToIPv6 ? address.MapToIPv4() : address;

    // IPv6 first as in the native core, but a link-local address last, which few peers can reach.
    private static IPAddress? Choose(IEnumerable<IPAddress> addresses, bool ipv6) => addresses
        .Where(one => one.AddressFamily == AddressFamily.InterNetwork || (ipv6 && one.AddressFamily == AddressFamily.InterNetworkV6))
        .MinBy(static one => one.AddressFamily == AddressFamily.InterNetwork ? 1 : one.IsIPv6LinkLocal ? 2 : 0);

    /// <summary>An interface's name comes before a host's, as in the native core, and needs no network.</summary>
    private static (IPAddress? Address, EndpointError Error) OwnAddress(NameSource names, string name, bool ipv6)
    {
        try
        {
            IEnumerable<IPAddress> found = names.InterfaceAddresses(name) ?? names.Lookup(name, FamilyFor(ipv6));
            return Choose(found, ipv6) is { } chosen ? (chosen, EndpointError.None) : (null, NoAddress(name, ipv6));
        }
        catch (Exception e) when (e is SocketException or ArgumentException)
        {
            return (null, NoSuchHost(name, e));
        }
    }

    // While parsing, the runtime turns an interface's name into its number, and an unknown one into 0.
    private static (IPAddress? Address, EndpointError Error) Scope(TcpHost host) =>
        host.Zone.Length == 0 ? (host.Address, EndpointError.None)
        : IPAddress.TryParse($"{host.Address}%{host.Zone}", out var scoped) && scoped.ScopeId != 0 ? (scoped, EndpointError.None)
        : (null, new EndpointError(
            ZlinkError.NoDevice,
            $"there is no network interface {EndpointError.Quote(host.Zone)}; the part after % must name one, or be its number"));

    private static EndpointError NeedsIPv6(TcpHost host) =>
        new(
            ZlinkError.NoDevice,
            $"{EndpointError.Quote(host.Text)} is an IPv6 address and IPv6 is off; set the IPv6 option, or use an IPv4 address");

    private static EndpointError NoAddress(string name, bool ipv6) => new(ZlinkError.NoDevice, ipv6
        ? $"{EndpointError.Quote(name)} has no address; use a name or an interface that has one"
        : $"{EndpointError.Quote(name)} has no IPv4 address; set the IPv6 option, or use a name or an interface that has one");

    private static EndpointError NoSuchHost(string name, Exception cause)
    {
        var os = cause is SocketException e ? e.SocketErrorCode : SocketError.HostNotFound;
        return os switch
        {
            SocketError.TryAgain => new(
                ZlinkError.NoDevice,
                    $"the name {EndpointError.Quote(name)} could not be looked up just now; check the machine's name server, or use an "
                    + $"address", os),

            SocketError.SocketError => new(
                ZlinkError.NoDevice,
                $"the name {EndpointError.Quote(name)} could not be looked up; see whether this process is out of file descriptors "
                    + $"(ulimit -n), or use an address",
                SocketError.TryAgain),
            _ => new(ZlinkError.NoDevice,
                $"there is no host or network interface {EndpointError.Quote(name)}; check the spelling, or use an address", os),
        };
    }
}
