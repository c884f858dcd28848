using System.Buffers;

namespace Net.Zlink.Buffers;

/// <summary>Memory that the application handed over with a message.</summary>
internal static class HandedOver
{
    /// <summary>Lets go of it. Never under a lock: this is the application's code.</summary>
    public static void Dispose(IMemoryOwner<byte> owner)
    {
        try
        {
            owner.Dispose();
        }
        catch (Exception)
        {
            // A Dispose that throws breaks its own contract. Passed on, it would cut a connection's teardown in half and leave its socket open for ever.
        }
    }
}
