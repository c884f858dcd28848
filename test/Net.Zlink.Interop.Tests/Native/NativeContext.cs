namespace Net.Zlink.Interop.Tests.Native;

/// <summary>A native context: a reaper thread and two I/O threads once it has a socket.</summary>
internal sealed class NativeContext : IDisposable
{
    private nint _handle;

    public NativeContext()
    {
        _handle = NativeFunctions.zlink_ctx_new();
        NativeException.ThrowIfFailed(_handle == 0 ? -1 : 0, nameof(NativeFunctions.zlink_ctx_new));
    }

    public nint Handle => _handle;

    public static Version LibraryVersion
    {
        get
        {
            NativeFunctions.zlink_version(out int major, out int minor, out int patch);
            return new Version(major, minor, patch);
        }
    }

    public NativeSocket CreateSocket(NativeSocketType type)
    {
        nint socket = NativeFunctions.zlink_socket(_handle, type);
        NativeException.ThrowIfFailed(socket == 0 ? -1 : 0, nameof(NativeFunctions.zlink_socket));
        return new NativeSocket(socket);
    }

    /// <summary>Wakes every blocked call of its sockets.</summary>
    public void Shutdown() => NativeException.ThrowIfFailed(
        NativeFunctions.zlink_ctx_shutdown(_handle), nameof(NativeFunctions.zlink_ctx_shutdown));

    /// <summary>Waits until every socket, all of which must be closed, has lingered and every endpoint of it is free again.</summary>
    public void Dispose()
    {
        if (_handle == 0)
        {
            return;
        }

        while (NativeFunctions.zlink_ctx_term(_handle) < 0)
        {
            if (NativeFunctions.LastError != NativeErrno.Interrupted)
            {
                throw new NativeException(nameof(NativeFunctions.zlink_ctx_term), NativeFunctions.LastError);
            }
        }

        _handle = 0;
    }
}
