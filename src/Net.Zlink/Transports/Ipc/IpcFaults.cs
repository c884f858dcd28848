using System.Net.Sockets;

namespace Net.Zlink.Transports.Ipc;

internal static class IpcFaults
{
    public static EndpointError Unsupported(IpcAddress address)
    {
        if (!Socket.OSSupportsUnixDomainSockets)
        {
            return new EndpointError(ZlinkError.ProtocolNotSupported, "this system has no Unix domain sockets; use tcp://host:port");
        }

        return address.IsAbstract && !OperatingSystem.IsLinux()
            ? new EndpointError(
                ZlinkError.ProtocolNotSupported, "only Linux has abstract names (those that begin with \"@\"); use ipc://path")
            : EndpointError.None;
    }

    public static EndpointError Bind(SocketException exception, string text)
    {
        var os = exception.SocketErrorCode;
        var name = EndpointError.Quote(text);
        return os switch
        {
            SocketError.AddressAlreadyInUse =>
                new(ZlinkError.AddressInUse, $"{name} is in use; stop the program that has it, or choose another name", os),
            SocketError.AddressNotAvailable =>
                new(ZlinkError.NotFound, $"there is no directory {DirectoryOf(text)}; create it first, or choose another path", os),
            SocketError.AccessDenied =>
                new(ZlinkError.PermissionDenied,
                    $"this process may not create a file in {DirectoryOf(text)}; choose another directory, or give it the right", os),
            SocketError.SocketError when HasFileInPath(text) =>
                new(ZlinkError.NotADirectory, $"a part of {DirectoryOf(text)} is a file, not a directory; choose another path", os),
            SocketError.TooManyOpenSockets => new(ZlinkError.TooManySockets, EndpointError.NoDescriptors, os),
            _ => new(ZlinkError.AddressInUse,
                $"the system refused to listen at {name} ({exception.Message}); try another path, on a local disk that can be written to",
                os),
        };
    }

    public static EndpointError File(Exception exception, string path) => exception switch
    {
        UnauthorizedAccessException => new(
            ZlinkError.PermissionDenied,
            $"this process may not change {EndpointError.Quote(path)}; choose another directory, or give it the right",
            SocketError.AccessDenied),
        FileNotFoundException => JustBound(path),
        DirectoryNotFoundException => new(
            ZlinkError.NotFound, $"there is no directory {DirectoryOf(path)}; create it first, or choose another path",
                SocketError.AddressNotAvailable),
        _ => new(
            ZlinkError.AddressInUse,
                $"{EndpointError.Quote(path)} could not be prepared ({OneLine(exception.Message)}); try another path",
                SocketError.SocketError),
    };

    public static EndpointError PathInUse(string sentence) => new(ZlinkError.AddressInUse, sentence, SocketError.AddressAlreadyInUse);

    public static EndpointError JustBound(string path) =>
        PathInUse($"another program took {EndpointError.Quote(path)} just now; stop it, or choose another path");

    public static DialResult TimedOut(string text, TimeSpan limit) => new(
        null,
        SocketError.TimedOut,
        $"{EndpointError.Quote(text)} accepted no connection within {limit.TotalMilliseconds:0} ms; see whether that program hangs, or "
        + $"raise its backlog");

    public static DialResult Refused(SocketError error, string text)
    {
        var name = EndpointError.Quote(text);
        return error switch
        {
            SocketError.AddressNotAvailable => new(null, SocketError.ConnectionRefused,
                $"there is nothing at {name}; start the server, or check the path"),
            SocketError.ConnectionRefused => new(null, error, $"no process listens at {name}; start the server, or check the path"),
            SocketError.AccessDenied =>
                new(null, error, $"this process may not connect to {name}; run it as the server's user, or give it the right to the file"),
            SocketError.ProtocolType => new(null, error, $"{name} is a socket of another kind; check the path"),
            SocketError.TooManyOpenSockets => new(null, error, EndpointError.NoDescriptors),
            _ => new(null, error, $"connecting to {name} failed ({new SocketException((int)error).Message}); check the path"),
        };
    }

    private static string DirectoryOf(string path) => EndpointError.Quote(Path.GetDirectoryName(Path.GetFullPath(path)) ?? path);

    private static bool HasFileInPath(string path)
    {
        for (var way = Path.GetDirectoryName(Path.GetFullPath(path)); !string.IsNullOrEmpty(way); way = Path.GetDirectoryName(way))
        {
            if (System.IO.File.Exists(way))
            {
                return true;
            }
        }

        return false;
    }

    private static string OneLine(string message) => message.ReplaceLineEndings(" ").TrimEnd('.');
}
