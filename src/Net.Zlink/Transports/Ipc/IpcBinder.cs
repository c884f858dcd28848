using System.Net.Sockets;

namespace Net.Zlink.Transports.Ipc;

/// <summary>
/// Differences from the native core, which does harm there: a live listener's path is not taken, a file that is no socket is not deleted,
/// and the own file is removed at the close.
/// </summary>
internal static class IpcBinder
{
    public static BindResult Bind(IpcEndpoint endpoint, SocketSettings settings)
    {
        IpcAddress address = endpoint.Address;
        var unsupported = IpcFaults.Unsupported(address);
        if (unsupported.Code != ZlinkError.None)
        {
            return new BindResult(null, unsupported);
        }

        return address.Text is "*" ? BindInNewDirectory(endpoint.Transport, settings)
            : BindAt(address, endpoint.Transport, directory: null, settings);
    }

    /// <summary>
    /// The native core uses "tmp" in the working directory, which stays, and whose endpoint other processes cannot use (docs/protocol.md
    /// section 15.5).
    /// </summary>
    private static BindResult BindInNewDirectory(Transport transport, SocketSettings settings)
    {
        string directory;
        try
        {
            directory = Directory.CreateTempSubdirectory("tmp").FullName;
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            return new BindResult(null, IpcFaults.File(e, Path.GetTempPath()));
        }

        BindResult result = BindAt(new IpcAddress(Path.Combine(directory, "socket")), transport, directory, settings);
        if (result.Listener is null)
        {
            TryRemove(directory);
        }

        return result;
    }

    private static BindResult BindAt(IpcAddress address, Transport transport, string? directory, SocketSettings settings)
    {
        Socket? socket = null;
        try
        {
            var path = address.IsAbstract ? null : Path.GetFullPath(address.Text);
            socket = IpcAddress.Open();
            var error = BindTo(socket, address, path);
            if (error.Code != ZlinkError.None)
            {
                return new BindResult(null, error);
            }

            Action? release = null;
            if (path is null)
            {
                socket.Listen(settings.Backlog);
            }
            else
            {
                release = ListenAndClaim(socket, path, directory, settings).Remove;
            }

            var listener = new SocketListener(
                socket, transport, $"{transport.Scheme}{EndpointText.Separator}{address.Text}", settings.SetBuffersOf, release: release);
            socket = null;
            return new BindResult(listener, EndpointError.None);
        }
        catch (SocketException e)
        {
            return new BindResult(null, IpcFaults.Bind(e, address.Text));
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            return new BindResult(null, IpcFaults.File(e, address.Text));
        }
        catch (ArgumentOutOfRangeException)
        {
            return new BindResult(null, IpcAddress.TooLong(address.Text));
        }
        finally
        {
            socket?.Dispose();
        }
    }

    private static SocketFile ListenAndClaim(Socket socket, string path, string? directory, SocketSettings settings)
    {
        try
        {
            SocketFile.Protect(path);
            socket.Listen(settings.Backlog);
            return SocketFile.Claim(path, directory);
        }
        catch (Exception e) when (e is not FileNotFoundException)
        {
            File.Delete(path);
            throw;
        }
    }

    private static EndpointError BindTo(Socket socket, IpcAddress address, string? path)
    {
        var endPoint = new UnixBindEndPoint(address.ToEndPoint());
        try
        {
            socket.Bind(endPoint);
        }
        catch (SocketException e) when (e.SocketErrorCode == SocketError.AddressAlreadyInUse && path is not null)
        {
            if (!StaleFile.TryRemove(path, address, out var error))
            {
                return error;
            }

            socket.Bind(endPoint);
        }

        endPoint.OnBound();
        return EndpointError.None;
    }

    private static void TryRemove(string directory)
    {
        try
        {
            Directory.Delete(directory);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            // An empty temporary directory does no harm.
        }
    }
}
