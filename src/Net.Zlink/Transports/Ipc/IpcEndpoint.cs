using System.Net;
using System.Net.Sockets;
using System.Text;

namespace Net.Zlink.Transports.Ipc;

internal sealed class IpcEndpoint(EndpointText text) : WireEndpoint(text)
{
    public override string Path => Address.Text;

    public IpcAddress Address { get; } = new(text.Remainder);

    public static TransportEndpoint? Parse(in EndpointText text, EndpointUse use, out EndpointError error)
    {
        error = IpcAddress.Check(text.Remainder, use);
        return error.Code == ZlinkError.None ? new IpcEndpoint(text) : null;
    }

    /// <summary>An unnamed end of a connection is "ipc://".</summary>
    public static string Format(EndPoint? address, string scheme, RedactedEndpoint endpoint) =>
        address is UnixDomainSocketEndPoint unix ? $"{scheme}://{EndpointText.Printable(unix.ToString())}" : "";

    public override BindResult Listen(TransportSettings settings) => IpcBinder.Bind(this, settings.Socket);

    public override Task<DialResult> DialAsync(
        TransportSettings settings, TimeProvider time, Action? connecting, CancellationToken cancellation) =>
        IpcDialer.DialAsync(this, settings.Socket, time, DescriptorHeadroom.OfThisProcess, connecting, cancellation);
}

internal sealed record IpcAddress(string Text)
{
    /// <summary>A Linux address holds 108 bytes, with a closing zero for paths. "@" counts too, as in the native core.</summary>
    public const int LongestText = 107;

    /// <summary>A name in Linux's abstract namespace: no file, and gone with its last socket.</summary>
    public bool IsAbstract => Text.StartsWith('@');

    public static EndpointError Check(string text, EndpointUse use) =>
        use == EndpointUse.Connect && text is "*"
            ? EndpointError.Invalid("* is for bind only; connect to the endpoint that bind returned")
        : text is "@" ? EndpointError.Invalid("there is no name after \"@\"; write ipc://@name")
        : text.Contains('\0', StringComparison.Ordinal)
            ? EndpointError.Invalid("there is a zero character in it, which no path or name may hold; leave it out")
        : Encoding.UTF8.GetByteCount(text) > LongestText ? TooLong(text)
        : EndpointError.None;

    public static Socket Open() => new(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified);

    /// <summary>
    /// Of the path from the root, unless that is too long: so it stays right when the process changes its directory.
    /// </summary>
    /// <exception cref="ArgumentOutOfRangeException">This system's addresses are shorter than Linux's.</exception>
    public UnixDomainSocketEndPoint ToEndPoint()
    {
        if (IsAbstract)
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
