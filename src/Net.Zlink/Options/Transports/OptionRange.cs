using System.Globalization;
using System.Numerics;
using System.Runtime.CompilerServices;

namespace Net.Zlink;

/// <summary>
/// Checks for setters and for Validate. Exceptions name the option, because an object initializer sets many properties in one expression.
/// </summary>
internal static class OptionRange
{
    private const string Setters = "value";

    /// <summary>
    /// The native core's longest time. A pause between two attempts may be twice as long, which the runtime's timers support.
    /// </summary>
    public static readonly TimeSpan LongestTime = TimeSpan.FromMilliseconds(int.MaxValue);

    public static T InRange<T>(T value, T least, T? most = null, [CallerArgumentExpression(nameof(value))] string argument = "",
        [CallerMemberName] string option = "")
        where T : struct, IComparable<T> => value.CompareTo(least) >= 0 && value.CompareTo(most ?? value) <= 0 ? value
            : throw OutOfRange(value, argument, option,
                $"takes {Text(least)} {(most is { } limit ? $"to {Text(limit)}" : "and above")}, not {Text(value)}.");

    /// <summary>Null is the only way to write "none": 0 and -1 are refused.</summary>
    public static T? OrNull<T>(T? value, T least, string without, [CallerArgumentExpression(nameof(value))] string argument = "",
        [CallerMemberName] string option = "")
        where T : struct, IBinaryInteger<T> => !(value < least) ? value
            : throw OutOfRange(value!, argument, option, $"takes {Text(least)} and above, or null for {without}, not {Text(value!)}.");

    public static TimeSpan? SecondsOrNull(TimeSpan? value, [CallerArgumentExpression(nameof(value))] string argument = "",
        [CallerMemberName] string option = "") =>
        value is not { } time || (time >= TimeSpan.FromSeconds(1) && time.Ticks % TimeSpan.TicksPerSecond == 0 && time <= LongestTime)
            ? value
        : throw OutOfRange(time, argument, option,
            $"takes whole seconds from 1 on, or null for the value of the system, not {Text(time)}.");

    public static TimeSpan Time(TimeSpan value, bool mayBeInfinite, [CallerArgumentExpression(nameof(value))] string argument = "",
        [CallerMemberName] string option = "")
    {
        if (value < TimeSpan.Zero && !(mayBeInfinite && value == Timeout.InfiniteTimeSpan))
        {
            throw OutOfRange(value, argument, option,
                $"takes TimeSpan.Zero and above{(mayBeInfinite ? ", or Timeout.InfiniteTimeSpan" : "")}, not {Text(value)}.");
        }

        return value < LongestTime ? value : LongestTime;
    }

    public static TimeSpan? WaitTime(TimeSpan? timeout) => timeout is { } time ? Time(time, mayBeInfinite: true, nameof(timeout)) : null;

    public static TimeSpan TimeAboveZero(TimeSpan value, [CallerArgumentExpression(nameof(value))] string argument = "",
        [CallerMemberName] string option = "") =>
        value > TimeSpan.Zero ? value : throw OutOfRange(value, argument, option, $"takes a time above TimeSpan.Zero, not {Text(value)}.");

    public static T Defined<T>(T value, [CallerArgumentExpression(nameof(value))] string argument = "",
        [CallerMemberName] string option = "")
        where T : struct, Enum => Enum.IsDefined(value) ? value
            : throw OutOfRange(value, argument, option, $"takes {string.Join(", ", Enum.GetNames<T>())}, not {value}.");

    public static T NotNull<T>(T value, string otherwise, [CallerArgumentExpression(nameof(value))] string argument = "",
        [CallerMemberName] string option = "")
        where T : class => value ?? throw new ArgumentNullException(argument, $"{Subject(argument, option)} takes no null: {otherwise}.");

    private static string Text(object value) => value is not TimeSpan time ? Convert.ToString(value, CultureInfo.InvariantCulture)!
        : time == Timeout.InfiniteTimeSpan ? "Timeout.InfiniteTimeSpan"
        : string.Create(CultureInfo.InvariantCulture, $"{time.TotalMilliseconds} ms");

    private static string Subject(string argument, string option) =>
        string.Equals(argument, Setters, StringComparison.Ordinal) ? option : argument;

    private static ArgumentOutOfRangeException OutOfRange(object value, string argument, string option, string sentence) =>
        new(argument, value, $"{Subject(argument, option)} {sentence}");
}
