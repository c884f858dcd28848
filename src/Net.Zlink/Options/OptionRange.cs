using System.Globalization;
using System.Runtime.CompilerServices;

namespace Net.Zlink;

/// <summary>Exceptions name the option, because an object initializer sets many properties in one expression.</summary>
internal static class OptionRange
{
    private const string Setters = "value";

    /// <summary>
    /// The native core's longest time. A pause between two attempts may be twice as long, which the runtime's timers support.
    /// </summary>
    public static readonly TimeSpan LongestTime = TimeSpan.FromMilliseconds(int.MaxValue);

    public static int InRange(int value, int least, int most = int.MaxValue, [CallerMemberName] string option = "") =>
        (int)InRange((long)value, least, most, option);

    public static long InRange(long value, long least, long most = long.MaxValue, [CallerMemberName] string option = "") =>
        value >= least && value <= most ? value : throw OutOfRange(
            value, string.Create(CultureInfo.InvariantCulture, $"{option} takes {least} to {most}, not {value}."));

    /// <summary>Null is the only way to write "none": 0 and -1 are refused.</summary>
    public static int? OrNull(int? value, int least, string without, [CallerMemberName] string option = "") =>
        (int?)OrNull((long?)value, least, without, option);

    public static long? OrNull(long? value, long least, string without, [CallerMemberName] string option = "") =>
        value is not { } number || number >= least ? value
        : throw OutOfRange(number, string.Create(
            CultureInfo.InvariantCulture, $"{option} takes {least} and above, or null for {without}, not {number}."));

    public static TimeSpan? SecondsOrNull(TimeSpan? value, [CallerMemberName] string option = "") =>
        value is not { } time || (time >= TimeSpan.FromSeconds(1) && time.Ticks % TimeSpan.TicksPerSecond == 0 && time <= LongestTime)
            ? value
        : throw OutOfRange(time, $"{option} takes whole seconds from 1 on, or null for the value of the system, not {Text(time)}.");

    public static TimeSpan Time(TimeSpan value, bool mayBeInfinite, [CallerArgumentExpression(nameof(value))] string argument = "",
        [CallerMemberName] string option = "")
    {
        if (value < TimeSpan.Zero && !(mayBeInfinite && value == Timeout.InfiniteTimeSpan))
        {
            string subject = string.Equals(argument, Setters, StringComparison.Ordinal) ? option : argument;
            throw OutOfRange(value,
                $"{subject} takes TimeSpan.Zero and above{(mayBeInfinite ? ", or Timeout.InfiniteTimeSpan" : "")}, not {Text(value)}.",
                argument);
        }

        return value < LongestTime ? value : LongestTime;
    }

    public static TimeSpan? WaitTime(TimeSpan? timeout) => timeout is { } time ? Time(time, mayBeInfinite: true, nameof(timeout)) : null;

    public static TimeSpan TimeUpTo(TimeSpan value, TimeSpan most, [CallerMemberName] string option = "") =>
        value >= TimeSpan.Zero && value <= most ? value
            : throw OutOfRange(value, string.Create(CultureInfo.InvariantCulture,
            $"{option} takes 0 to {most.TotalMilliseconds} ms, not {Text(value)}."));

    public static TimeSpan TimeAboveZero(TimeSpan value, [CallerMemberName] string option = "") =>
        value > TimeSpan.Zero ? value : throw OutOfRange(value, $"{option} takes what is above TimeSpan.Zero, not {Text(value)}.");

    public static T Defined<T>(T value, [CallerMemberName] string option = "")
        where T : struct, Enum => Enum.IsDefined(value) ? value
            : throw OutOfRange(value, $"{option} takes {string.Join(", ", Enum.GetNames<T>())}, not {value}.");

    public static T NotNull<T>(T value, string otherwise, [CallerMemberName] string option = "")
        where T : class => value ?? throw new ArgumentNullException(Setters, $"{option} takes no null: {otherwise}.");

    private static string Text(TimeSpan value) =>
        value == Timeout.InfiniteTimeSpan ? "Timeout.InfiniteTimeSpan"
            : string.Create(CultureInfo.InvariantCulture, $"{value.TotalMilliseconds} ms");

    private static ArgumentOutOfRangeException OutOfRange(object value, string message, string argument = Setters) =>
        new(argument, value, message);
}
