using System.Globalization;

namespace Net.Zlink.Extensions.Hosting;

/// <summary>Reads the text of a setting as a value.</summary>
internal static class SettingText
{
    public static bool CanRead(Type type)
    {
        Type plain = Nullable.GetUnderlyingType(type) ?? type;
        return plain.IsPrimitive || plain.IsEnum || plain == typeof(string) || plain == typeof(TimeSpan);
    }

    /// <summary>Null and an empty text are null where the type has it.</summary>
    /// <exception cref="FormatException">The message says what the setting takes.</exception>
    public static object? Read(Type type, string? text)
    {
        Type plain = Nullable.GetUnderlyingType(type) ?? type;
        if (type == typeof(string) || (string.IsNullOrEmpty(text) && plain != type))
        {
            return type == typeof(string) ? text : null;
        }

        string given = text ?? "";
        return plain == typeof(TimeSpan) ? Time(given)
            : plain.IsEnum ? Enum.TryParse(plain, given, ignoreCase: true, out object? named) ? named
                : throw Takes(string.Join(", ", Enum.GetNames(plain)), text)
            : Number(plain, given) ?? throw Takes(
                plain == typeof(bool) ? "true or false" : plain == typeof(double) ? "a number" : "a whole number in its range", text);
    }

    private static object? Number(Type type, string text)
    {
        try
        {
            return Convert.ChangeType(text, type, CultureInfo.InvariantCulture);
        }
        catch (Exception e) when (e is FormatException or OverflowException)
        {
            return null;
        }
    }

    /// <summary>The runtime reads a whole number as days, and the 24 of 24:00:00, too.</summary>
    private static TimeSpan Time(string text)
    {
        string days = text.Split(':', 2)[0];
        bool isNumber = double.TryParse(text, CultureInfo.InvariantCulture, out double number);
        return isNumber ? throw new FormatException($"It takes a time with its unit: write {Example(number)}, not {text}.")
            : !TimeSpan.TryParse(text, CultureInfo.InvariantCulture, out TimeSpan time) ? throw Takes("a time such as 00:00:05", text)
            : time.Days == 0 || days.Contains('.', StringComparison.Ordinal) ? time
            : throw new FormatException($"It takes at most 23 hours in a day: write {time:c} for {time.Days} days, not {text}.");
    }

    private static string Example(double number) => number < 0 ? "-00:00:00.001 forever"
        : number >= TimeSpan.MaxValue.TotalSeconds ? "00:00:05 for 5 seconds"
        : string.Create(CultureInfo.InvariantCulture, $"{TimeSpan.FromSeconds(number):c} for {number} seconds");

    private static FormatException Takes(string what, string? text) =>
        new($"It takes {what}, not {(text is null ? "null" : $"\"{text}\"")}.");
}
