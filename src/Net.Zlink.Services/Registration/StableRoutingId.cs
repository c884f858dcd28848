using System.Buffers.Binary;
using System.Text;

namespace Net.Zlink.Services;

/// <summary>The routing id of a receiver that was given none: 0 and a 32-bit hash of its endpoint, in the form of the native core's random
/// ids.</summary>
/// <remarks>
/// A native gateway names its connection by the listed id and keeps the name while the endpoint is listed, so an id must stay with its
/// endpoint over a restart and must differ between endpoints: it aborts on two endpoints with one id. The hash is FNV-1a.
/// </remarks>
internal static class StableRoutingId
{
    private const uint OffsetBasis = 2166136261;
    private const uint Prime = 16777619;

    public static RoutingId Of(string endpoint)
    {
        uint hash = OffsetBasis;
        foreach (byte b in Encoding.UTF8.GetBytes(endpoint))
        {
            hash = (hash ^ b) * Prime;
        }

        byte[] id = new byte[5];
        BinaryPrimitives.WriteUInt32BigEndian(id.AsSpan(1), hash == 0 ? 1 : hash); // 0 is no id in the native core.
        return new RoutingId(id);
    }
}
