using System.Net.Sockets;
using System.Text;

namespace Net.Zlink.Transports.Ipc;

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
        address = error.Fault == EndpointFault.None ? new IpcAddress(text) : null!;
        return address is not null;
    }

    /// <exception cref="ArgumentOutOfRangeException">This system's addresses are shorter than Linux's.</exception>
    public UnixDomainSocketEndPoint ToEndPoint() => new(Kind == IpcKind.Abstract ? $"\0{Text.AsSpan(1)}" : Text);

    public IpcAddress FromRoot(string? path) => path is not null && TryParse(path, EndpointUse.Bind, out var full, out _) ? full : this;

    public static EndpointError TooLong(string text) => new(
        EndpointFault.NameTooLong,
        $"{EndpointError.Quote(text)} is {Encoding.UTF8.GetByteCount(text)} bytes long, and the system takes {LongestText} at most "
            + $"(fewer on some); "
        + "use a shorter path, or one relative to the working directory");
}
