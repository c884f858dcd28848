using System.Runtime.InteropServices;

namespace Net.Zlink.Interop.Tests.Native;

/// <summary>A discovery of the native core. Dispose the gateways and nodes that use it first.</summary>
internal sealed unsafe class NativeDiscovery : IDisposable
{
    private nint _handle;

    /// <summary>Type 1 finds receivers, 2 SPOT nodes.</summary>
    public NativeDiscovery(NativeContext context, ushort type)
    {
        _handle = NativeFunctions.zlink_discovery_new_typed(context.Handle, type);
        NativeException.ThrowIfFailed(_handle == 0 ? -1 : 0, "new discovery");
    }

    public nint Handle => _handle;

    public void ConnectRegistry(string publisher) => NativeException.ThrowIfFailed(
        NativeFunctions.zlink_discovery_connect_registry(_handle, publisher), $"connect registry {publisher}");

    /// <summary>Takes effect at the first <see cref="ConnectRegistry"/>.</summary>
    public void SetOption(int option, ReadOnlySpan<byte> value)
    {
        fixed (byte* pointer = value)
        {
            NativeException.ThrowIfFailed(NativeFunctions.zlink_discovery_setsockopt(
                _handle, NativeRole.Discovery, option, pointer, (nuint)value.Length), $"set option {option}");
        }
    }

    /// <summary>The service's receivers in the order of the list.</summary>
    public NativeReceiverInfo[] GetReceivers(string service)
    {
        // A longer list is cut: no test has one.
        var receivers = new NativeReceiverStruct[1024];
        nuint count = (nuint)receivers.Length;
        fixed (NativeReceiverStruct* pointer = receivers)
        {
            NativeException.ThrowIfFailed(
                NativeFunctions.zlink_discovery_get_receivers(_handle, service, pointer, ref count), "get receivers");
        }

        return Array.ConvertAll(receivers[..(int)Math.Min(count, (nuint)receivers.Length)], static receiver => new NativeReceiverInfo(
            Marshal.PtrToStringUTF8((nint)receiver.Endpoint)!, receiver.RoutingId.ToArray(), receiver.Weight));
    }

    public void Dispose()
    {
        if (_handle != 0)
        {
            NativeException.ThrowIfFailed(NativeFunctions.zlink_discovery_destroy(ref _handle), "destroy discovery");
        }
    }
}

/// <summary>One receiver of a list.</summary>
internal sealed record NativeReceiverInfo(string Endpoint, byte[] RoutingId, uint Weight);
