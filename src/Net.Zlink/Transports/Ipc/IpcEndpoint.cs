using System.Net;
using System.Net.Sockets;
using System.Text;

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

    public override BindResult Listen(TransportSettings settings) => IpcBinder.Bind(this, settings.Socket);

    public override Task<DialResult> DialAsync(
        TransportSettings settings, TimeProvider time, Action? connecting, CancellationToken cancellation) =>
        IpcDialer.DialAsync(this, settings.Socket, time, DescriptorHeadroom.OfDials, connecting, cancellation);
}

internal enum IpcKind
{
    Path,

    /// <summary>A name in Linux's abstract namespace: no file, and gone with its last socket.</summary>
    Abstract,

    Wildcard,
}

internal sealed record IpcAddress(string Text)
{
    /// <summary>A Linux address holds 108 bytes, with a closing zero for paths. "@" counts too, as in the native core.</summary>
    public const int LongestText = 107;

    public IpcKind Kind => Text is "*" ? IpcKind.Wildcard : Text.StartsWith('@') ? IpcKind.Abstract : IpcKind.Path;

    public static bool TryParse(string text, EndpointUse use, out IpcAddress address, out EndpointError error)
    {
        error = use == EndpointUse.Connect && text is "*"
            ? EndpointError.Invalid("* is for bind only; connect to the endpoint that bind returned")
            : text is "@" ? EndpointError.Invalid("there is no name after \"@\"; write ipc://@name")
            : text.Contains('\0', StringComparison.Ordinal)
                ? EndpointError.Invalid("there is a zero character in it, which no path or name may hold; leave it out")
            : Encoding.UTF8.GetByteCount(text) > LongestText ? TooLong(text)
            : EndpointError.None;
        address = error.Code == ZlinkError.None ? new IpcAddress(text) : null!;
        return address is not null;
    }

    /// <summary>
    /// Of the path from the root, unless that is too long: so it stays right when the process changes its directory.
    /// </summary>
    /// <exception cref="ArgumentOutOfRangeException">This system's addresses are shorter than Linux's.</exception>
    public UnixDomainSocketEndPoint ToEndPoint()
    {
        if (Kind == IpcKind.Abstract)
        {
            return new($"\0{Text.AsSpan(1)}");
        }

        string full = Path.GetFullPath(Text);
        return new(Encoding.UTF8.GetByteCount(full) <= LongestText ? full : Text);
    }

    public static EndpointError TooLong(string text) => new(
        ZlinkError.NameTooLong,
        $"{EndpointError.Quote(text)} is {Encoding.UTF8.GetByteCount(text)} bytes long, and the system takes {LongestText} at most "
            + $"(fewer on some); "
        + "use a shorter path, or one relative to the working directory");
}

internal static class IpcSocketOptions
{
    public static Socket Open() => new(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified);

    /// <summary>Unix domain connections inherit nothing from their listener.</summary>
    public static Action<Socket>? For(SocketSettings settings) =>
        settings is { SendBufferSize: < 0, ReceiveBufferSize: < 0 } ? null : socket => ApplyTo(socket, settings);

    public static void ApplyTo(Socket socket, SocketSettings settings)
    {
        if (settings.SendBufferSize >= 0)
        {
            socket.SendBufferSize = settings.SendBufferSize;
        }

        if (settings.ReceiveBufferSize >= 0)
        {
            socket.ReceiveBufferSize = settings.ReceiveBufferSize;
        }
    }
}
