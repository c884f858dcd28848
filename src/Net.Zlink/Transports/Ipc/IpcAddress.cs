using System.Net.Sockets;
using System.Text;

namespace Net.Zlink.Transports.Ipc;

/// <summary>What an ipc endpoint names.</summary>
internal enum IpcKind
{
    /// <summary>A socket file.</summary>
    Path,

    /// <summary>A name of Linux's abstract namespace: no file, gone with its last socket.</summary>
    Abstract,

    /// <summary>A file of a name that bind makes up.</summary>
    Wildcard,
}

/// <summary>The part of an ipc endpoint after "://", parsed. Pure: nothing is opened here.</summary>
/// <param name="Kind">What it is.</param>
/// <param name="Text">As written: the path, "@" and the name, or "*".</param>
internal sealed record IpcAddress(IpcKind Kind, string Text)
{
    /// <summary>An address of the system holds 108 bytes on Linux, of which a path's last is a zero; "@" counts too, as natively.</summary>
    public const int LongestText = 107;

    /// <summary>Parses "path", "@name" or "*".</summary>
    public static bool TryParseBind(string text, out IpcAddress address, out EndpointError error) =>
        TryParse(text, text is "*" ? IpcKind.Wildcard : KindOf(text), out address, out error);

    /// <summary>Parses "path" or "@name". A "*" is what only bind can fill in.</summary>
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

    /// <summary>The address as the system takes it.</summary>
    /// <exception cref="ArgumentOutOfRangeException">This system's addresses are shorter than Linux's.</exception>
    public UnixDomainSocketEndPoint ToEndPoint() => new(Kind == IpcKind.Abstract ? $"\0{Text.AsSpan(1)}" : Text);

    /// <summary>The same file by its path from the root, where that is short enough: what the system then shows of a bound socket means one
    /// file.</summary>
    /// <param name="path">What <see cref="SocketPath.FromRoot"/> says of it; null: it is no file.</param>
    public IpcAddress FromRoot(string? path) => path is not null && TryParse(path, IpcKind.Path, out var full, out _) ? full : this;

    /// <summary>A path that is too long for an address.</summary>
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
