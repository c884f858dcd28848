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

internal sealed record IpcAddress(IpcKind Kind, string Text)
{
    /// <summary>A Linux address holds 108 bytes, with a closing zero for paths. "@" counts too, as in the native core.</summary>
    public const int LongestText = 107;

    public static bool TryParseBind(string text, out IpcAddress address, out EndpointError error) =>
        TryParse(text, text is "*" ? IpcKind.Wildcard : KindOf(text), out address, out error);

    public static bool TryParseConnect(string text, out IpcAddress address, out EndpointError error)
    {
        if (text is "*")
        {
            address = null!;
            error = EndpointError.Invalid("* is for bind only; connect to the endpoint that bind returned");
            return false;
        }

        return TryParse(text, KindOf(text), out address, out error);
    }

    /// <exception cref="ArgumentOutOfRangeException">This system's addresses are shorter than Linux's.</exception>
    public UnixDomainSocketEndPoint ToEndPoint() => new(Kind == IpcKind.Abstract ? $"\0{Text.AsSpan(1)}" : Text);

    public IpcAddress FromRoot(string? path) => path is not null && TryParse(path, IpcKind.Path, out var full, out _) ? full : this;

    public static EndpointError TooLong(string text) => new(
        EndpointFault.NameTooLong,
        $"{EndpointError.Quote(text)} is {Encoding.UTF8.GetByteCount(text)} bytes long, and the system takes {LongestText} at most "
            + $"(fewer on some); "
        + "use a shorter path, or one relative to the working directory");

    private static IpcKind KindOf(string text) => text.StartsWith('@') ? IpcKind.Abstract : IpcKind.Path;

    private static bool TryParse(string text, IpcKind kind, out IpcAddress address, out EndpointError error)
    {
        address = null!;
        if (text is "@")
        {
            error = EndpointError.Invalid("there is no name after \"@\"; write ipc://@name");
            return false;
        }

        if (text.Contains('\0', StringComparison.Ordinal))
        {
            error = EndpointError.Invalid("there is a zero character in it, which no path or name may hold; leave it out");
            return false;
        }

        if (Encoding.UTF8.GetByteCount(text) > LongestText)
        {
            error = TooLong(text);
            return false;
        }

        address = new IpcAddress(kind, text);
        error = EndpointError.None;
        return true;
    }
}
