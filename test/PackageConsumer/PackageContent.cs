using System.IO.Compression;
using System.Reflection;
using System.Reflection.Metadata;
using System.Reflection.PortableExecutable;
using System.Text.RegularExpressions;
using System.Xml.Linq;

namespace PackageConsumer;

/// <summary>What a package must contain to look finished in a gallery, and what it must not ask of who uses it.</summary>
internal static class PackageContent
{
    private static readonly string[] Files = ["icon.png", "LICENSE", "CHANGELOG.md", "README.md"];

    private static readonly string[] Elements =
        ["description", "tags", "license", "icon", "readme", "authors", "releaseNotes", "projectUrl"];

    private static readonly Regex RelativeLink = new(@"\]\((?!https?://|#)[^)]*\)", RegexOptions.None, TimeSpan.FromSeconds(10));

    public static IEnumerable<string> FaultsOf(string path)
    {
        string name = Path.GetFileName(path);
        using ZipArchive package = ZipFile.OpenRead(path);
        XElement metadata = XDocument.Parse(TextOf(package, ".nuspec")).Root!.Elements().First();
        string[] said = [.. metadata.Elements().Where(static one => one.Value.Length > 0).Select(static one => one.Name.LocalName)];
        List<string> faults = [.. Elements.Except(said).Select(static element => $"has no {element}")];
        faults.AddRange(Files.Where(file => package.GetEntry(file) is null).Select(static file => $"does not contain {file}"));
        faults.AddRange(RelativeLink.Matches(TextOf(package, "README.md")).Select(static link => $"has a dead link in its README: {link}"));
        bool isTemplate = metadata.Descendants().Any(one => one.Attribute("name")?.Value == "Template");
        if (!isTemplate)
        {
            faults.AddRange(DependenciesOf(metadata).Where(static one => !MayBeAskedFor(one.Name, one.Version))
                .Select(static one => $"asks for {one.Name} {one.Version}; the lowest of the .NET 10 line does"));
            faults.AddRange(HiddenTypes(package).Select(static type => $"shows the XML docs of {type}, which an application cannot see"));
            if (!File.Exists(Path.ChangeExtension(path, ".snupkg")))
            {
                faults.Add("has no package of symbols");
            }
        }

        return faults.Select(fault => $"{name} {fault}");
    }

    private static bool MayBeAskedFor(string name, string version) =>
        version == "10.0.0" || !name.StartsWith("Microsoft.", StringComparison.Ordinal);

    private static IEnumerable<(string Name, string Version)> DependenciesOf(XElement metadata) =>
        metadata.Descendants().Where(static one => one.Name.LocalName == "dependency")
            .Select(static one => ((string)one.Attribute("id")!, (string)one.Attribute("version")!));

    private static string[] HiddenTypes(ZipArchive package)
    {
        string[] documented = [.. XDocument.Parse(TextOf(package, ".xml")).Descendants("member")
            .Select(static one => (string)one.Attribute("name")!).Where(static id => id.StartsWith("T:", StringComparison.Ordinal))];
        using var assembly = new PEReader(new MemoryStream(BytesOf(package, ".dll")));
        MetadataReader types = assembly.GetMetadataReader();
        IEnumerable<TypeDefinitionHandle> visible = types.TypeDefinitions.Where(type => IsVisible(types, type));
        return [.. documented.Except(visible.Select(type => $"T:{NameOf(types, type)}"))];
    }

    private static bool IsVisible(MetadataReader types, TypeDefinitionHandle handle)
    {
        TypeDefinition type = types.GetTypeDefinition(handle);
        TypeDefinitionHandle outer = type.GetDeclaringType();
        return (type.Attributes & TypeAttributes.VisibilityMask)
            is TypeAttributes.Public or TypeAttributes.NestedPublic or TypeAttributes.NestedFamily or TypeAttributes.NestedFamORAssem
            && (outer.IsNil || IsVisible(types, outer));
    }

    private static string NameOf(MetadataReader types, TypeDefinitionHandle handle)
    {
        TypeDefinition type = types.GetTypeDefinition(handle);
        TypeDefinitionHandle outer = type.GetDeclaringType();
        return $"{(outer.IsNil ? types.GetString(type.Namespace) : NameOf(types, outer))}.{types.GetString(type.Name)}";
    }

    private static string TextOf(ZipArchive package, string end) =>
        System.Text.Encoding.UTF8.GetString(BytesOf(package, end)).TrimStart('\uFEFF');

    private static byte[] BytesOf(ZipArchive package, string end)
    {
        // First what an application refers to: a package may have analyzers, too.
        using Stream file = package.Entries.Where(entry => entry.FullName.EndsWith(end, StringComparison.Ordinal))
            .OrderBy(static entry => entry.FullName.StartsWith("lib/", StringComparison.Ordinal) ? 0 : 1).First().Open();
        using var bytes = new MemoryStream();
        file.CopyTo(bytes);
        return bytes.ToArray();
    }
}
