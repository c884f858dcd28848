using System.Globalization;
using Net.Zlink.Conformance.Tests.Replay.Comparing;
using Net.Zlink.Conformance.Tests.Replay.Model;
using Net.Zlink.Conformance.Tests.Replay.WebSocket;

namespace Net.Zlink.Conformance.Tests.Replay.Forms;

/// <summary>What came on a ws connection in a step, against what its records say.</summary>
internal static class WsComparison
{
    /// <summary>The heads, data and control frames of the records, in their order.</summary>
    public static IReadOnlyList<Wanted> Expected(IEnumerable<WireRecord> records)
    {
        var wanted = new List<Wanted>();
        foreach (WireRecord record in records)
        {
            if (record.Http is not null)
            {
                wanted.Add(new Wanted(record.Http, null));
            }

            ReadOnlySpan<byte> rest = record.Payload is null && record.Control.Count == 0 ? []
                : record.Bytes.AsSpan(record.Http?.Length ?? 0);
            while (WsFrame.TryRead(rest) is { } frame)
            {
                wanted.Add(new Wanted(null, frame.IsControl ? WsItem.OfControl(frame.Opcode, frame.Payload)
                    : WsItem.OfData(frame.Payload)));
                rest = rest[frame.Size..];
            }
        }

        return wanted;
    }

    /// <summary>Null when they are the same; otherwise a sentence.</summary>
    /// <param name="expected">From the records.</param>
    /// <param name="actual">What came.</param>
    /// <param name="context">The values of this connection.</param>
    /// <param name="isWhole">False: what came may also end early.</param>
    public static string? Difference(IReadOnlyList<Wanted> expected, IReadOnlyList<WsItem> actual, WsContext context, bool isWhole)
    {
        List<Wanted> wanted = Merged(expected, static item => item.Item, static data => new Wanted(null, data));
        List<WsItem> came = Merged(actual, static item => item, static data => data);
        for (int i = 0; i < came.Count; i++)
        {
            if (i == wanted.Count)
            {
                return $"{Show(came.Skip(i))} more than expected";
            }

            if (Difference(wanted[i], came[i], context, isLast: i == came.Count - 1 && !isWhole) is { } difference)
            {
                return difference;
            }
        }

        return isWhole && came.Count < wanted.Count ? $"expected {Show(wanted[came.Count])} behind {Show(came)}" : null;
    }

    public static string Show(IEnumerable<WsItem> items) => string.Join(", ", items.Select(Show)) is { Length: > 0 } text ? text
        : "nothing";

    private static string? Difference(Wanted wanted, WsItem came, WsContext context, bool isLast)
    {
        if (wanted.Head is not null)
        {
            return came.Head is null ? $"expected {Show(wanted)}, got {Show(came)}" : DifferenceOfHeads(wanted.Head, came.Head, context);
        }

        WsItem item = wanted.Item!;
        bool sameKind = item.Kind == came.Kind && item.Opcode == came.Opcode;
        bool same = isLast && item.Kind is WsItemKind.Data ? item.Bytes.AsSpan().StartsWith(came.Bytes)
            : item.Bytes.AsSpan().SequenceEqual(came.Bytes);
        return sameKind && same ? null : $"expected {Show(item)}, got {Show(came)}";
    }

    private static string? DifferenceOfHeads(RecordedHead wanted, HttpHead came, WsContext context)
    {
        if (wanted.Status != came.Status || !string.Equals(wanted.Method, came.Method, StringComparison.Ordinal)
            || !string.Equals(wanted.Path, came.Path, StringComparison.Ordinal))
        {
            return $"expected {wanted.Method} {wanted.Path} {wanted.Status}, got {came.Method} {came.Path} {came.Status}";
        }

        foreach ((string name, string value) in wanted.Headers)
        {
            string? there = came.Headers.GetValueOrDefault(name);
            string meant = value switch
            {
                RecordedHead.Key => there is not null && WsUpgrade.IsKey(there) ? there : "base64 of 16 bytes",
                RecordedHead.Accept => WsUpgrade.Accept(context.Key ?? string.Empty),
                _ when value.EndsWith(':' + RecordedHead.Port, StringComparison.Ordinal) =>
                    value[..^RecordedHead.Port.Length] + context.Port.ToString(CultureInfo.InvariantCulture),
                _ => value,
            };
            if (!string.Equals(there, meant, StringComparison.Ordinal))
            {
                return $"header {name}: expected {meant}, got {there ?? "none"}";
            }
        }

        return null;
    }

    /// <summary>Joins data that has nothing between it.</summary>
    private static List<T> Merged<T>(IReadOnlyList<T> items, Func<T, WsItem?> itemOf, Func<WsItem, T> make)
    {
        var merged = new List<T>();
        var data = new List<byte>();
        foreach (T item in items)
        {
            if (itemOf(item) is { Kind: WsItemKind.Data } some)
            {
                data.AddRange(some.Bytes);
                continue;
            }

            Close();
            merged.Add(item);
        }

        Close();
        return merged;

        void Close()
        {
            if (data.Count > 0)
            {
                merged.Add(make(WsItem.OfData([.. data])));
                data.Clear();
            }
        }
    }

    private static string Show(Wanted wanted) => wanted.Head is { } head ? $"the head {head.Method} {head.Path} {head.Status}"
        : Show(wanted.Item!);

    private static string Show(WsItem item) => item.Kind switch
    {
        WsItemKind.Head => $"the head {item.Head?.Method} {item.Head?.Path} {item.Head?.Status}",
        WsItemKind.Control => $"{item.Opcode} {Convert.ToHexStringLower(item.Bytes)}",
        _ => $"data of {RandomValues.Show(item.Bytes)}",
    };
}

/// <summary>What is expected next: a head, or else a frame.</summary>
internal sealed record Wanted(RecordedHead? Head, WsItem? Item);

/// <param name="Port">The port in use.</param>
/// <param name="Key">The key that the played side has sent; null when it is the server.</param>
internal readonly record struct WsContext(int Port, string? Key);
