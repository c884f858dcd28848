using System.Runtime.InteropServices;

namespace Net.Zlink.Interop.Tests.Native;

/// <summary>A registry of the native core. Set it up, then <see cref="Start"/>.</summary>
internal sealed unsafe class NativeRegistry : IDisposable
{
    private nint _handle;

    public NativeRegistry(NativeContext context, string publisher, string router, uint id = 0)
    {
        _handle = NativeFunctions.zlink_registry_new(context.Handle);
        NativeException.ThrowIfFailed(_handle == 0 ? -1 : 0, "new registry");
        NativeException.ThrowIfFailed(NativeFunctions.zlink_registry_set_endpoints(_handle, publisher, router), "set endpoints");
        if (id != 0)
        {
            NativeException.ThrowIfFailed(NativeFunctions.zlink_registry_set_id(_handle, id), "set id");
        }
    }

    public void AddPeer(string publisher) =>
        NativeException.ThrowIfFailed(NativeFunctions.zlink_registry_add_peer(_handle, publisher), $"add peer {publisher}");

    public void SetHeartbeatTimeout(TimeSpan timeout) => NativeException.ThrowIfFailed(NativeFunctions.zlink_registry_set_heartbeat(
        _handle, 1, (uint)NativeTime.Milliseconds(timeout)), "set heartbeat");

    public void SetBroadcastInterval(TimeSpan interval) => NativeException.ThrowIfFailed(
        NativeFunctions.zlink_registry_set_broadcast_interval(_handle, (uint)NativeTime.Milliseconds(interval)), "set interval");

    public void SetOption(int role, int option, int value) =>
        SetOption(role, option, MemoryMarshal.AsBytes(new ReadOnlySpan<int>(ref value)));

    public void SetOption(int role, int option, ReadOnlySpan<byte> value)
    {
        fixed (byte* pointer = value)
        {
            NativeException.ThrowIfFailed(
                NativeFunctions.zlink_registry_setsockopt(_handle, role, option, pointer, (nuint)value.Length), $"set option {option}");
        }
    }

    /// <summary>A bind that fails is not told.</summary>
    public void Start() => NativeException.ThrowIfFailed(NativeFunctions.zlink_registry_start(_handle), "start registry");

    public void Dispose()
    {
        if (_handle != 0)
        {
            NativeException.ThrowIfFailed(NativeFunctions.zlink_registry_destroy(ref _handle), "destroy registry");
        }
    }
}
