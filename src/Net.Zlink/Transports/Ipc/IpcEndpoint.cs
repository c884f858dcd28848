using System.Net;
using System.Net.Sockets;

namespace Net.Zlink.Transports.Ipc;

internal sealed class IpcEndpoint(EndpointText text, IpcAddress address) : WireEndpoint(text)
{
    public override string Path => address.Text;

    public IpcAddress Address => address;

    public static bool TryParse(in EndpointText text, EndpointUse use, out TransportEndpoint endpoint, out EndpointError error)
    {
        bool isParsed = IpcAddress.TryParse(text.Remainder, use, out IpcAddress address, out error);
        endpoint = isParsed ? new IpcEndpoint(text, address) : null!;
        return isParsed;
    }

    /// <summary>An unnamed end of a connection is "ipc://".</summary>
    public static string Format(EndPoint? address, string scheme, RedactedEndpoint endpoint) =>
        address is UnixDomainSocketEndPoint unix ? $"{scheme}://{EndpointText.Printable(unix.ToString())}" : "";

    public override BindResult Listen(TransportSettings settings) => IpcListener.Bind(this, settings.Socket);

    public override Task<DialResult> DialAsync(
        TransportSettings settings, TimeProvider time, Action? connecting, CancellationToken cancellation) =>
        IpcDialer.DialAsync(this, settings.Socket, time, connecting, cancellation);
}
