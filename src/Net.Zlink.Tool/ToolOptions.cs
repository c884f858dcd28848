using System.CommandLine;
using System.CommandLine.Parsing;
using System.Globalization;

namespace Net.Zlink.Tool;

/// <summary>Options that several commands have, under one name and with one meaning.</summary>
internal sealed class ToolOptions
{
    private const double LongestSeconds = 1_000_000;

    public ToolOptions()
    {
        Ca.AcceptLegalFilePathsOnly();
        Certificate.AcceptLegalFilePathsOnly();
        Key.AcceptLegalFilePathsOnly();
    }

    public Argument<string> Endpoint { get; } = new("endpoint")
    {
        Description = "tcp://host:port, ipc://path, tls://host:port, ws://host:port/path or wss://host:port/path",
    };

    public Argument<string[]> Parts { get; } = new("part")
    {
        Description = "The parts of one message. Without them each line of standard input is a message",
        Arity = ArgumentArity.ZeroOrMore,
    };

    public Option<bool> Bind { get; } = new("--bind", "-b") { Description = "Listen at the endpoint; else connect to it" };

    public Option<MessageFormat> Format { get; } = OneOf<MessageFormat>(
        "--format", "How messages are written and read; without it as text", alias: "-f");

    public Option<long?> Count { get; } = new("--count", "-n")
    {
        Description = "End after this many messages",
        HelpName = "n",
        CustomParser = static argument => (long?)Number(argument, 1, long.MaxValue, static text =>
            long.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out long value) ? value : null),
    };

    public Option<double?> Rate { get; } = new("--rate", "-r")
    {
        Description = "Send at most this many messages a second",
        HelpName = "n",
        CustomParser = static argument => Number(argument, 0.001, 1e9, Decimal),
    };

    public Option<double?> Timeout { get; } = new("--timeout", "-t")
    {
        Description = "End after this many seconds",
        HelpName = "seconds",
        CustomParser = static argument => Number(argument, 0.001, LongestSeconds, Decimal),
    };

    public Option<string> Ca { get; } = new("--ca")
    {
        Description = "Over tls and wss: a PEM file with the authorities to trust",
        HelpName = "file",
    };

    public Option<string> Certificate { get; } = new("--cert")
    {
        Description = "Over tls and wss: a PEM file with this side's certificate; needed to listen",
        HelpName = "file",
    };

    public Option<string> Key { get; } = new("--key")
    {
        Description = "Over tls and wss: a PEM file with its private key, if --cert does not have it",
        HelpName = "file",
    };

    public Option<bool> Insecure { get; } = new("--insecure") { Description = "Over tls and wss: do not check the peer's certificate" };

    /// <summary>A whole number with a standard.</summary>
    public static Option<int> Whole(string name, string description, int standard, int least, int most) => new(name)
    {
        Description = description,
        HelpName = "n",
        DefaultValueFactory = _ => standard,
        CustomParser = argument => Number(argument, least, most, static text =>
            int.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out int value) ? value : null) ?? standard,
    };

    /// <summary>One of some words: the names of an enumeration in small letters, of which the user may write any.</summary>
    public static Option<T> OneOf<T>(string name, string description, T standard = default, params string[] alias)
        where T : struct, Enum
    {
        string[] words = [.. Enum.GetNames<T>().Where(static word => word is not "None").Select(static word => word.ToLowerInvariant())];
        var option = new Option<T>(name, alias)
        {
            Description = description,
            HelpName = string.Join('|', words),
            DefaultValueFactory = _ => standard,
            CustomParser = argument =>
            {
                string given = argument.Tokens[0].Value;
                if (words.Contains(given, StringComparer.OrdinalIgnoreCase))
                {
                    return Enum.Parse<T>(given, ignoreCase: true);
                }

                argument.AddError($"{name} cannot be '{given}': write one of {string.Join(", ", words)}");
                return standard;
            },
        };
        option.CompletionSources.Add(words);
        return option;
    }

    /// <summary>A time in seconds with a standard.</summary>
    public static Option<double> Seconds(string name, string description, double standard, double least, double most) => new(name)
    {
        Description = description,
        HelpName = "seconds",
        DefaultValueFactory = _ => standard,
        CustomParser = argument => Number(argument, least, most, Decimal) ?? standard,
    };

    public Symbol[] Tls => [Ca, Certificate, Key, Insecure];

    private static double? Decimal(string text) =>
        double.TryParse(text, NumberStyles.AllowDecimalPoint, CultureInfo.InvariantCulture, out double value) ? value : null;

    private static T? Number<T>(ArgumentResult argument, T least, T most, Func<string, T?> parse)
        where T : struct, IComparable<T>
    {
        string given = argument.Tokens[0].Value;
        if (parse(given) is { } value && value.CompareTo(least) >= 0 && value.CompareTo(most) <= 0)
        {
            return value;
        }

        string option = argument.Parent is OptionResult parent ? parent.Option.Name : "The number";
        argument.AddError(string.Create(CultureInfo.InvariantCulture,
            $"{option} cannot be '{given}': write a number from {least} to {most}"));
        return null;
    }
}
