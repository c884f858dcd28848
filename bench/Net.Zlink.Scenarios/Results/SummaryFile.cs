using System.Text.Json;
using System.Text.Json.Serialization;
using Net.Zlink.Benchmarks.Common;

namespace Net.Zlink.Scenarios.Results;

/// <summary>Reads and writes summary.json.</summary>
internal static class SummaryFile
{
    public const string Name = "summary.json";

    public static void Write(string path, Summary summary) => File.WriteAllText(path, ToJson(summary) + "\n");

    public static string ToJson(Summary summary) => JsonSerializer.Serialize(summary, ResultsJson.Default.Summary);

    /// <param name="path">The file, or the folder that holds one.</param>
    public static Summary Read(string path)
    {
        string file = Directory.Exists(path) ? Path.Combine(path, Name) : path;
        try
        {
            string text = File.ReadAllText(file);
            CheckFormat(file, text);
            return JsonSerializer.Deserialize(text, ResultsJson.Default.Summary) ?? throw new RequestException($"{file} is empty.");
        }
        catch (Exception e) when (e is JsonException or IOException or UnauthorizedAccessException)
        {
            throw new RequestException($"{file} is not a summary that can be read: {e.Message}", e);
        }
    }

    /// <summary>Before all else: what another format has need not be readable as this one.</summary>
    private static void CheckFormat(string file, string text)
    {
        using JsonDocument json = JsonDocument.Parse(text);
        if (json.RootElement.ValueKind == JsonValueKind.Object && json.RootElement.TryGetProperty("format", out JsonElement format)
            && !(format.ValueKind == JsonValueKind.Number && format.TryGetInt32(out int number) && number == Summary.CurrentFormat))
        {
            throw new RequestException(
                $"{file} has the format {format.GetRawText()}; this program reads the format {Summary.CurrentFormat}. Make the report "
                + $"with the program that wrote it.");
        }
    }
}

/// <summary>How results look as JSON: compiled, so that measuring processes need no reflection.</summary>
[JsonSourceGenerationOptions(
    JsonSerializerDefaults.Web,
    WriteIndented = true,
    UseStringEnumConverter = true,
    NumberHandling = JsonNumberHandling.AllowNamedFloatingPointLiterals)]
[JsonSerializable(typeof(Summary))]
internal sealed partial class ResultsJson : JsonSerializerContext;
