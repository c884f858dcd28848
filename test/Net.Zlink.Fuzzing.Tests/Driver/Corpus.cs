using Net.Zlink.Tests.Support;

namespace Net.Zlink.Fuzzing;

/// <summary>The saved inputs of a target: a text file, one input in base64 a line. A line with # names the fault of the next.</summary>
internal static class Corpus
{
    private const string Note = "# ";

    public static List<byte[]> Load(string target) =>
        [.. Lines(target).Where(static line => !IsNote(line)).Select(Convert.FromBase64String)];

    /// <summary>Replaces the inputs; those of faults stay.</summary>
    public static void Save(string target, IEnumerable<byte[]> inputs)
    {
        string[] lines = Lines(target);
        string[] faults = [.. lines.Where((line, at) => IsNote(line) || (at > 0 && IsNote(lines[at - 1])))];
        File.WriteAllLines(PathOf(target), [.. inputs.Select(Convert.ToBase64String).Except(faults, StringComparer.Ordinal), .. faults]);
    }

    /// <summary>Keeps an input that failed: the tests fail until its fault is mended.</summary>
    public static void SaveFailing(string target, byte[] input, string fault) =>
        File.AppendAllLines(PathOf(target), [Note + string.Concat(fault.ReplaceLineEndings(" ").Take(120)), Convert.ToBase64String(input)]);

    private static bool IsNote(string line) => line.StartsWith(Note, StringComparison.Ordinal);

    private static string[] Lines(string target) => File.Exists(PathOf(target)) ? File.ReadAllLines(PathOf(target)) : [];

    private static string PathOf(string target) =>
        Path.Combine(Repository.Root, "test", "Net.Zlink.Fuzzing.Tests", "Corpus", $"{target}.txt");
}
