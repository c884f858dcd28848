using System.Diagnostics;
using System.Text;

namespace Net.Zlink;

/// <summary>The trace context of a message: an optional last part, in the text of W3C Trace Context behind the name of its HTTP
/// field.</summary>
/// <remarks>For messages between programs that have agreed on it: a receiver that knows nothing of it sees one part more. Requests of
/// Net.Zlink.Services carry their context in the envelope and need no part.</remarks>
public static class TraceContextPart
{
    // A traceparent has 55 bytes. State that is longer than W3C asks to support is left out.
    private const int MaxLength = 1024;

    private static ReadOnlySpan<byte> Parent => "traceparent:"u8;

    private static ReadOnlySpan<byte> State => "\ntracestate:"u8;

    /// <summary>Adds the context of an activity as the last part. Adds nothing where there is no activity, or one without a W3C
    /// id.</summary>
    /// <param name="message">The message; add its other parts before.</param>
    /// <param name="activity">The activity; null: <see cref="Activity.Current"/>.</param>
    /// <returns>The message.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="message"/> is null.</exception>
    /// <exception cref="ObjectDisposedException">The builder is disposed.</exception>
    public static MessageBuilder AddTraceContext(this MessageBuilder message, Activity? activity = null)
    {
        ArgumentNullException.ThrowIfNull(message);
        activity ??= Activity.Current;
        if (activity is not { IdFormat: ActivityIdFormat.W3C, Id: { } id })
        {
            return message;
        }

        string? state = activity.TraceStateString;
        if (state is not null && Parent.Length + id.Length + State.Length + Encoding.UTF8.GetByteCount(state) > MaxLength)
        {
            state = null;
        }

        int length = Parent.Length + id.Length + (string.IsNullOrEmpty(state) ? 0 : State.Length + Encoding.UTF8.GetByteCount(state));
        Span<byte> part = message.AddSpace(length);
        Parent.CopyTo(part);
        Encoding.ASCII.GetBytes(id, part[Parent.Length..]);
        if (!string.IsNullOrEmpty(state))
        {
            State.CopyTo(part[(Parent.Length + id.Length)..]);
            Encoding.UTF8.GetBytes(state, part[(Parent.Length + id.Length + State.Length)..]);
        }

        return message;
    }

    /// <summary>Reads the context of the last part.</summary>
    /// <param name="message">A received message; stays the caller's.</param>
    /// <param name="context">The context, as that of a remote parent.</param>
    /// <returns>False: the last part is none.</returns>
    /// <exception cref="ObjectDisposedException">The message is disposed.</exception>
    public static bool TryGetTraceContext(this in Message message, out ActivityContext context)
    {
        context = default;
        ReadOnlySpan<byte> part = message[message.PartCount - 1].Span;
        if (!IsOne(part))
        {
            return false;
        }

        part = part[Parent.Length..];
        int end = part.IndexOf(State);
        string parent = Encoding.ASCII.GetString(end < 0 ? part : part[..end]);
        string? state = end < 0 ? null : Encoding.UTF8.GetString(part[(end + State.Length)..]);
        return ActivityContext.TryParse(parent, state, isRemote: true, out context);
    }

    internal static bool IsOne(ReadOnlySpan<byte> part) => part.Length <= MaxLength && part.StartsWith(Parent);
}
