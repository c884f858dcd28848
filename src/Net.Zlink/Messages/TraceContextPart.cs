using System.Diagnostics;
using System.Text;

namespace Net.Zlink;

/// <summary>The trace context of a message: an optional last part, in the text of W3C Trace Context behind the name of its HTTP
/// field.</summary>
/// <remarks>For messages between programs that have agreed on it: a receiver that knows nothing of it sees one part more. Requests of
/// Net.Zlink.Services carry their context in the envelope and need no part.</remarks>
public static class TraceContextPart
{
    private const int ParentSize = 55;

    private static ReadOnlySpan<byte> Parent => "traceparent:"u8;

    private static ReadOnlySpan<byte> State => "\ntracestate:"u8;

    private static ReadOnlySpan<byte> Baggage => "\nbaggage:"u8;

    private static int MaxLength =>
        Parent.Length + ParentSize + State.Length + BaggageText.MaxStateSize + Baggage.Length + BaggageText.MaxSize;

    /// <summary>Adds the context of an activity as the last part, with its tracestate up to 512 bytes and its baggage up to 1,024. Adds
    /// nothing where there is no activity, or one without a W3C id.</summary>
    /// <param name="message">The message; add its other parts before.</param>
    /// <param name="activity">The activity; null: <see cref="Activity.Current"/>.</param>
    /// <returns>The message.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="message"/> is null.</exception>
    /// <exception cref="ObjectDisposedException">The builder is disposed.</exception>
    public static MessageBuilder AddTraceContext(this MessageBuilder message, Activity? activity = null)
    {
        ArgumentNullException.ThrowIfNull(message);
        activity ??= Activity.Current;
        if (activity is not { IdFormat: ActivityIdFormat.W3C, Id: { Length: ParentSize } id })
        {
            return message;
        }

        Span<byte> state = stackalloc byte[BaggageText.MaxStateSize];
        state = state[..BaggageText.WriteState(activity.TraceStateString, state)];
        Span<byte> baggage = stackalloc byte[BaggageText.MaxSize];
        baggage = baggage[..BaggageText.Write(activity, baggage)];
        Span<byte> part = message.AddSpace(Parent.Length + ParentSize + SizeOf(State, state) + SizeOf(Baggage, baggage));
        Parent.CopyTo(part);
        part = part[Parent.Length..];
        part = part[Encoding.ASCII.GetBytes(id, part)..];
        Write(Baggage, baggage, Write(State, state, part));
        return message;
    }

    /// <summary>Reads the context of the last part.</summary>
    /// <param name="message">A received message; stays the caller's.</param>
    /// <param name="context">The context, as that of a remote parent.</param>
    /// <returns>False: the last part is none.</returns>
    /// <exception cref="ObjectDisposedException">The message is disposed.</exception>
    public static bool TryGetTraceContext(this in Message message, out ActivityContext context) =>
        TryRead(message, out context, out _);

    /// <summary>Reads the context of the last part, and its baggage for <see cref="Activity.AddBaggage"/>.</summary>
    /// <inheritdoc cref="TryGetTraceContext(in Message, out ActivityContext)"/>
    /// <param name="message">A received message; stays the caller's.</param>
    /// <param name="context">The context, as that of a remote parent.</param>
    /// <param name="baggage">The baggage; empty where there is none.</param>
    public static bool TryGetTraceContext(
        this in Message message, out ActivityContext context, out IEnumerable<KeyValuePair<string, string?>> baggage)
    {
        bool isOne = TryRead(message, out context, out ReadOnlySpan<byte> text);
        baggage = BaggageText.Read(text);
        return isOne;
    }

    internal static bool IsOne(ReadOnlySpan<byte> part) => part.Length <= MaxLength && part.StartsWith(Parent);

    private static bool TryRead(in Message message, out ActivityContext context, out ReadOnlySpan<byte> baggage)
    {
        context = default;
        baggage = default;
        ReadOnlySpan<byte> part = message[message.PartCount - 1].Span;
        if (!IsOne(part))
        {
            return false;
        }

        part = part[Parent.Length..];
        ReadOnlySpan<byte> state = default;
        if (part.IndexOf(Baggage) is var end and >= 0)
        {
            baggage = part[(end + Baggage.Length)..];
            part = part[..end];
        }

        if ((end = part.IndexOf(State)) >= 0)
        {
            state = part[(end + State.Length)..];
            part = part[..end];
        }

        bool isOne = ActivityContext.TryParse(
            Encoding.ASCII.GetString(part), state.IsEmpty ? null : Encoding.UTF8.GetString(state), isRemote: true, out context);
        baggage = isOne ? baggage : default;
        return isOne;
    }

    private static int SizeOf(ReadOnlySpan<byte> name, ReadOnlySpan<byte> value) => value.IsEmpty ? 0 : name.Length + value.Length;

    private static Span<byte> Write(ReadOnlySpan<byte> name, ReadOnlySpan<byte> value, Span<byte> destination)
    {
        if (value.IsEmpty)
        {
            return destination;
        }

        name.CopyTo(destination);
        value.CopyTo(destination[name.Length..]);
        return destination[(name.Length + value.Length)..];
    }
}
