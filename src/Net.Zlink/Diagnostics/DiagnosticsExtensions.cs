using System.Net;

namespace Net.Zlink;

/// <summary>Lets other programs see what a context's sockets do.</summary>
public static class DiagnosticsExtensions
{
    /// <summary>Opens an endpoint of this process that serves the statistics of the context, its sockets and their peers as JSON, for
    /// <c>zlink top</c> and programs like it. They are the facts of <see cref="ZlinkSocket.Describe"/>: no payloads, no secrets.</summary>
    /// <param name="context">The context.</param>
    /// <param name="endpoint">ipc or tcp, such as <c>tcp://127.0.0.1:5999</c>. Null: a file in a directory of this user, where
    /// <see cref="DiagnosticsEndpoint.Find"/> finds it. Of any ipc file only this user can read; over tcp each user of the machine.</param>
    /// <param name="allowRemote">True: over tcp other machines may read, too. They need no password, and nothing is encrypted.</param>
    /// <returns>The endpoint. It ends when it is disposed, or with the context.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="context"/> is null.</exception>
    /// <exception cref="ArgumentException"><paramref name="endpoint"/> is neither ipc nor tcp, or it can be reached from other machines and
    /// <paramref name="allowRemote"/> is false.</exception>
    /// <exception cref="InvalidOperationException">The diagnostics of the context are open already.</exception>
    /// <exception cref="ZlinkException">As for <see cref="ZlinkSocket.Bind"/>. PermissionDenied: the directory cannot be used.
    /// TooManySockets: the context has no place for one more.</exception>
    /// <exception cref="ObjectDisposedException">The context is shut down.</exception>
    public static DiagnosticsEndpoint OpenDiagnostics(this ZlinkContext context, string? endpoint = null, bool allowRemote = false)
    {
        ArgumentNullException.ThrowIfNull(context);
        if (ZlinkEndpoint.TryParse(endpoint, out ZlinkEndpoint? given))
        {
            ThrowIfRefused(given, allowRemote);
        }

        return new DiagnosticsEndpoint(context, endpoint ?? DiagnosticsDirectory.NewEndpoint(context.Name));
    }

    private static void ThrowIfRefused(ZlinkEndpoint endpoint, bool allowRemote)
    {
        if (endpoint.Scheme is not ("ipc" or "tcp"))
        {
            throw new ArgumentException(
                $"Diagnostics are not served at {endpoint}: write an endpoint that begins with ipc:// or tcp://.", nameof(endpoint));
        }

        bool isLocal = endpoint.Scheme is "ipc" || endpoint.Host is "localhost"
            || (IPAddress.TryParse(endpoint.Host, out IPAddress? address) && IPAddress.IsLoopback(address));
        if (!isLocal && !allowRemote)
        {
            throw new ArgumentException(
                $"Other machines could read the diagnostics at {endpoint}, without a password: write tcp://127.0.0.1 and a port, or set "
                + "allowRemote where the network is trusted.", nameof(endpoint));
        }
    }
}
