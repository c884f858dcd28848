using System.Diagnostics.CodeAnalysis;

namespace Net.Zlink.Services;

/// <summary>The last frame of a list, behind the services: what has left by word not long ago. Readers of lists, native ones too, skip what
/// is behind the services. A registry from which nothing was removed sends no such frame.</summary>
internal static class ListRemovals
{
    public const int MaxCount = 1_000;

    /// <summary>How long a removal is named, and how long followers know of it.</summary>
    public static readonly TimeSpan Time = TimeSpan.FromSeconds(30);

    private const int MaxBytes = 64 * 1024;

    // As in an acknowledgement, with entries behind it: an instance's weight, which may be the last frame, has 4 bytes.
    private static ReadOnlySpan<byte> Mark => [0x5A, 0x52, 0x47, 1];

    /// <summary>Encodes as many as fit.</summary>
    /// <param name="newestFirst">Those with texts longer than native readers take are left out.</param>
    /// <returns>Nothing for none.</returns>
    public static byte[] Encode(IEnumerable<EntryKey> newestFirst)
    {
        List<byte> frame = [.. Mark];
        foreach (EntryKey key in newestFirst)
        {
            (ServiceText service, ServiceText endpoint) = (key.Service.Name, key.Endpoint);
            if (service.Span.Length > ServiceText.MaxLength || endpoint.Span.Length > ServiceText.MaxLength)
            {
                continue;
            }

            if (frame.Count + sizeof(ushort) + 2 + service.Span.Length + endpoint.Span.Length > MaxBytes)
            {
                break;
            }

            frame.AddRange((byte)key.Service.Kind, (byte)(key.Service.Kind >> 8), (byte)service.Span.Length);
            frame.AddRange(service.Span);
            frame.Add((byte)endpoint.Span.Length);
            frame.AddRange(endpoint.Span);
        }

        return frame.Count > Mark.Length ? [.. frame] : [];
    }

    /// <summary>What a list says to have been removed; of a malformed frame what comes before the fault.</summary>
    public static List<EntryKey> Read(in Frames frames)
    {
        List<EntryKey> removed = [];
        ReadOnlySpan<byte> rest = frames.Count > ServiceListHeader.FrameCount ? frames[frames.Count - 1] : [];
        if (rest.Length <= Mark.Length || !rest.StartsWith(Mark))
        {
            return removed;
        }

        rest = rest[Mark.Length..];
        while (rest.Length > sizeof(ushort) && removed.Count < MaxCount)
        {
            var kind = (ushort)(rest[0] | (rest[1] << 8));
            rest = rest[sizeof(ushort)..];
            if (!TryReadText(ref rest, out ServiceText? service) || !TryReadText(ref rest, out ServiceText? endpoint))
            {
                break;
            }

            removed.Add(new EntryKey(new ServiceKey(kind, service), endpoint));
        }

        return removed;
    }

    private static bool TryReadText(ref ReadOnlySpan<byte> rest, [NotNullWhen(true)] out ServiceText? text)
    {
        text = null;
        if (rest.IsEmpty || rest.Length <= rest[0])
        {
            return false;
        }

        text = new ServiceText(rest.Slice(1, rest[0]));
        rest = rest[(1 + rest[0])..];
        return true;
    }
}
